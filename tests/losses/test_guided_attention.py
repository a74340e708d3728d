import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked


def by_hand(weights, T, N, g):
    """The mean of `A W` over the real steps and positions, entry by entry."""
    total = 0.0
    for t in range(T):
        for n in range(N):
            W = 1 - np.exp(-((n / N - t / T) ** 2) / (2 * g**2))
            total += weights[t, n] * W
    return total / (T * N)


WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), (2, 6))


def test_diagonal_costs_nothing():
    found = ka.GuidedAttentionLoss()(np.ones((1, 4, 4)), np.eye(4)[None])
    assert float(found) == 0


@pytest.mark.parametrize("g", [0.2, 0.5])
def test_mean_of_the_weighted_weights(g):
    found = ka.GuidedAttentionLoss(g)(np.ones((1, 6, 5)), WEIGHTS[:1])
    assert_worked(found, by_hand(WEIGHTS[0], 6, 5, g))


def test_lengths_are_those_of_what_is_real():
    visible = np.zeros((2, 6, 5))
    visible[0, :3, :4] = visible[1, :6, :2] = 1
    each = by_hand(WEIGHTS[0], 3, 4, 0.2), by_hand(WEIGHTS[1], 6, 2, 0.2)
    found = ka.GuidedAttentionLoss(reduction="sum")(visible, WEIGHTS)
    assert_worked(found, 3 * each[0] + 6 * each[1])
    mean = ka.GuidedAttentionLoss()(visible, WEIGHTS)
    assert_worked(mean, (3 * each[0] + 6 * each[1]) / 9)


def test_padding_may_come_first():
    visible = np.zeros((1, 6, 5))
    visible[0, 2:, 1:] = 1
    found = ka.GuidedAttentionLoss()(visible, WEIGHTS[:1])
    assert_worked(found, by_hand(WEIGHTS[0, 2:, 1:], 4, 4, 0.2))


def test_width_must_be_positive():
    with pytest.raises(ValueError, match="`width` must be a finite number of"):
        ka.GuidedAttentionLoss(0.0)
