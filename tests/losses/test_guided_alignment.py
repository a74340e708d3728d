import numpy as np

import keras_attention as ka
from tests.worked import assert_worked, batch

WEIGHTS = batch([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [1, 0, 0]])


def _each(alignments):
    loss = ka.GuidedAlignmentLoss(reduction=None)
    return loss(batch(alignments), WEIGHTS)


def test_cross_entropy_of_each_step():
    found = _each([[1, 0, 0], [0, 0.5, 0.5], [1, 0, 0]])
    second = -(np.log(0.8) + np.log(0.1)) / 2
    assert_worked(found, [[np.log(2), second, 0]])


def test_several_positions_share_a_step():
    """Counts and probabilities are the same alignment."""
    counts = _each([[1, 1, 0], [0, 2, 2], [3, 0, 0]])
    shares = _each([[0.5, 0.5, 0], [0, 0.5, 0.5], [1, 0, 0]])
    assert_worked(counts, shares)


def test_mean_is_over_aligned_steps():
    loss = ka.GuidedAlignmentLoss(2.0)
    alignments = batch([[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert_worked(loss(alignments, WEIGHTS), 2 * np.log(2))


def test_no_weight_where_there_should_be_all_is_finite():
    found = _each([[1, 0, 0], [0, 1, 0], [0, 1, 0]])
    assert_worked(found[0, 2], -np.log(1e-7))
