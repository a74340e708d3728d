import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

SOURCE = batch(det((7, 2), 0.2, 1.0))
STATE = batch([[0.6, -0.4]])


def _attend(**masks):
    attend = ka.LocalPredictiveAttention(radius=2, score="dot")
    attend.build(STATE.shape, SOURCE.shape)
    assign(attend, W=det((2, 2), 0.1, 1.0).T, v=[[1.5], [-1]])
    return attend(STATE, SOURCE, return_attention_scores=True, **masks)


def test_paper_form():
    context, weights = _attend()
    alpha = [0, 0.082066, 0.225611, 0.137366, 0.106996, 0, 0]
    assert_worked(weights, [[alpha]])
    assert_worked(context, [[[0.099164, 0.041597]]])
    assert_worked(np.sum(weights), 0.552039)


@pytest.mark.parametrize("mask", ["value_mask", "attention_mask"])
def test_length_comes_from_the_mask(mask):
    context, weights = _attend(**{mask: np.arange(7)[None] < 5})
    alpha = [0.045026, 0.217834, 0.29741, 0.089931, 0, 0, 0]
    assert_worked(weights, [[alpha]])
    assert_worked(context, [[[0.033497, 0.018049]]])
    assert_worked(np.sum(weights), 0.6502)


def test_flat_scores_show_the_gaussian_not_renormalised():
    value = np.zeros((1, 10, 2), "float32")
    attend = ka.LocalPredictiveAttention(radius=2, score="dot")
    attend.build(STATE.shape, value.shape)
    assign(attend, v=np.zeros((2, 1)))  # p = 10 sigmoid(0) = 5.
    _context, weights = attend(STATE, value, return_attention_scores=True)
    expected = [0, 0, 0, 0.0271, 0.1213, 0.2, 0.1213, 0.0271, 0, 0]
    np.testing.assert_allclose(weights[0, 0], expected, atol=5e-5)
    np.testing.assert_allclose(np.sum(weights), 0.4967, atol=5e-5)


@pytest.mark.parametrize("radius", [0, -1, 1.5, True])
def test_radius_must_be_a_positive_integer(radius):
    with pytest.raises(ValueError, match="`radius` must be a .* integer"):
        ka.LocalPredictiveAttention(radius)


def test_units_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        ka.LocalPredictiveAttention(2, units=0)
