import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.encoder_decoder.scored import dot, weights_of
from tests.worked import assert_worked, assign, batch, det

ALPHA = [
    [0.356373, 0.643627, 0],
    [0.620048, 0.379952, 0],
    [0.757365, 0.242635, 0],
]
CONTEXT = [
    [-0.214018, -0.198435],
    [-0.044952, 0.27053],
    [0.043095, 0.514758],
]


def test_worked_values():
    attend = ka.IntraTemporalAttention()
    source, states = batch(det((3, 2), 0.2, 1.0)), batch(det((3, 2), 0.5, 1.0))
    mask = np.array([[True, True, False]])
    attend(states, source)
    assign(attend.score, W=det((2, 2), 0.1, 1.0))
    context, weights = attend(
        states, source, value_mask=mask, return_attention_scores=True
    )
    assert_worked(weights[0], ALPHA)
    assert_worked(context[0], CONTEXT)


def test_large_scores_do_not_overflow():
    scores = np.array([[300.0, 0], [300, 290], [300, 300]])
    weights = weights_of(ka.IntraTemporalAttention(dot()), scores)
    e1 = [0.0, 290.0]  # Each less the logarithm of its sum before.
    assert_worked(weights[1], np.exp(e1) / np.exp(e1).sum())
    e2 = [300 - (300 + np.log(2)), 300 - 290.0]
    assert_worked(weights[2], np.exp(e2) / np.exp(e2).sum())


def test_a_padded_query_leaves_no_trace():
    scores = np.array([[1.0, 2], [5, -5], [0, 1]])
    attend = ka.IntraTemporalAttention(dot())
    mask = np.array([[True, False, True]])
    weights = weights_of(attend, scores, query_mask=mask)
    assert_worked(weights[[0, 2]], weights_of(attend, scores[[0, 2]]))
    assert not weights[1].any()


def test_unknown_score():
    with pytest.raises(ValueError, match="`score` must be a Score or one of"):
        ka.IntraTemporalAttention("nearest")


def test_gradient_where_a_score_is_the_sum_before():
    """A query that comes twice; half of it goes to each."""
    attend = ka.IntraTemporalAttention(dot(), dtype="float64")
    query = np.array([[[1.0, 0], [1, 0], [0, 1]]])
    value = tf.constant([[[1.0, 0.5], [0.2, -1]]], "float64")

    def loss(query):
        return tf.reduce_sum(tf.sin(attend(query, value)))

    x = tf.constant(query)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x)
    step = 1e-6 * np.eye(6).reshape(6, 1, 3, 2)
    numeric = [(loss(query + s) - loss(query - s)) / 2e-6 for s in step]
    np.testing.assert_allclose(
        np.ravel(tape.gradient(y, x)), numeric, rtol=1e-6
    )
