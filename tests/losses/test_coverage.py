import numpy as np

import keras_attention as ka
from tests.worked import assert_worked, batch

WEIGHTS = batch([[0.5, 0.5], [1, 0]])


def test_coverage_is_that_before_the_step():
    """Of the step too, it would be 1 and 1."""
    each = ka.CoverageLoss(reduction=None)(np.ones((1, 2, 2)), WEIGHTS)
    np.testing.assert_array_equal(each, [[0, 0.5]])
    assert float(ka.CoverageLoss()(np.ones((1, 2, 2)), WEIGHTS)) == 0.25
    assert float(ka.CoverageLoss(4.0)(np.ones((1, 2, 2)), WEIGHTS)) == 1.0


def test_worked_values():
    weights = batch(
        [[0.372763, 0.277116, 0.350121, 0], [0.438622, 0.187136, 0.374242, 0]]
    )
    visible = np.array([[[1, 1, 1, 0]]])
    each = ka.CoverageLoss(reduction=None)(visible, weights)
    assert_worked(each, [[0, 0.372763 + 0.187136 + 0.350121]])


def test_coverage_is_summed_over_all_steps_so_far():
    weights = batch([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    each = ka.CoverageLoss(reduction=None)(np.ones((1, 3, 2)), weights)
    assert_worked(each, [[0, 0.2 + 0.1, 0.5 + 0.5]])


def test_padded_step_neither_costs_nor_covers():
    weights = np.array([[[1, 0], [0, 1], [0, 1]]])
    visible = np.array([[[1, 1], [0, 0], [1, 1]]])
    each = ka.CoverageLoss(reduction=None)(visible, weights)
    np.testing.assert_array_equal(each, [[0, 0, 0]])
