import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, det

X = det((2, 3, 2), 0.2, 1.0)
MASK = np.array([[True, True, False], [False, False, False]])


def _pool(b, mask=None, **kwargs):
    pool = ka.FeedForwardAttention(**kwargs)
    pool.build(X.shape)
    assign(pool, w=[[0.7], [-1.2]], b=b)
    return pool(X, mask=mask, return_attention_scores=True)


def test_raffel():
    context, weights = _pool([0.1])
    alpha = [[0.152299, 0.600791, 0.24691], [0.329084, 0.496921, 0.173996]]
    assert_worked(weights, alpha)
    assert_worked(context, [[-0.073388, -0.192204], [0.023061, -0.0366]])


def test_raffel_with_a_mask():
    context, weights = _pool([0.1], MASK)
    assert_worked(weights, [[0.202232, 0.797768, 0], [0, 0, 0]])
    assert_worked(context, [[-0.312851, -0.472584], [0, 0]])


def test_kaggle_form():
    context, weights = _pool([0.1, -0.2, 0.3], step_bias=True)
    alpha = [[0.161623, 0.519694, 0.318683], [0.360385, 0.418558, 0.221057]]
    assert_worked(weights, alpha)
    assert_worked(context, [[0.011504, -0.068304], [-0.123716, -0.064481]])


def test_kaggle_form_with_a_mask():
    context, weights = _pool([0.1, -0.2, 0.3], MASK, step_bias=True)
    assert_worked(weights, [[0.237222, 0.762778, 0], [0, 0, 0]])
    assert_worked(context, [[-0.290416, -0.410353], [0, 0]])


def test_without_activation():
    pool = ka.FeedForwardAttention(activation=None)
    pool.build(X.shape)
    assign(pool, w=[[0.7], [-1.2]])
    assert len(pool.weights) == 1
    context, weights = pool(X, mask=MASK, return_attention_scores=True)
    e = np.exp(X[0, :2] @ [0.7, -1.2])
    assert_worked(weights, [[*(e / e.sum()), 0], [0, 0, 0]])
    assert_worked(context, [e / e.sum() @ X[0, :2], [0, 0]])


def test_no_step_weighs_more_than_e_squared_times_another():
    pool = ka.FeedForwardAttention()
    x = np.array([[[1000.0], [-1000.0]]])
    _context, weights = pool(x, return_attention_scores=True)
    assert_worked(np.max(weights) / np.min(weights), np.exp(2))


def test_step_bias_needs_a_known_length():
    expected = (
        "`FeedForwardAttention` has one weight per step of `inputs`, so its "
        "length must be known when the layer is built. Received: inputs with "
        "length None"
    )
    with pytest.raises(ValueError, match=expected):
        ka.FeedForwardAttention(step_bias=True).build((None, None, 2))


def test_step_bias_must_be_a_boolean():
    with pytest.raises(ValueError, match="`step_bias` must be True or False"):
        ka.FeedForwardAttention(step_bias=1)
