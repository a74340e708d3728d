import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked


def test_scores():
    expected = [[[0.666667, 0.333333, 0.19245]]]
    assert_worked(ka.CosineScore()(QUERY, KEYS), expected)
    assert_worked(ka.CosineScore(3.0)(QUERY, KEYS), 3 * np.array(expected))


def test_attention():
    context, weights = ka.Attention("cosine")(
        QUERY, KEYS, return_attention_scores=True
    )
    assert_worked(weights, [[[0.427551, 0.306353, 0.266096]]])
    assert_worked(context, [[[0.693647, 0.878803, 0.266096]]])


def test_scale_can_be_learned():
    score = ka.CosineScore(2.0, learn_scale=True)
    score(QUERY, KEYS)
    assert [v.name for v in score.trainable_variables] == ["beta"]
    score.beta.assign(0.5)
    expected = 0.5 * np.array([[[0.666667, 0.333333, 0.19245]]])
    assert_worked(score(QUERY, KEYS), expected)


def test_zero_vector_scores_zero_with_a_finite_gradient():
    zero = tf.zeros((1, 1, 3))
    with tf.GradientTape() as tape:
        tape.watch(zero)
        scores = ka.CosineScore()(zero, KEYS)
    assert_worked(scores, np.zeros((1, 1, 3)))
    assert np.isfinite(tape.gradient(scores, zero)).all()


def test_length_of_a_vector_does_not_count():
    score = ka.CosineScore()
    assert_worked(score(QUERY * 100, KEYS * 0.01), score(QUERY, KEYS))


@pytest.mark.parametrize("scale", [float("nan"), "1", True, None])
def test_scale_must_be_a_finite_number(scale):
    expected = "`scale` must be a finite number. Received: scale="
    with pytest.raises(ValueError, match=expected):
        ka.CosineScore(scale)


def test_sizes_must_agree():
    with pytest.raises(ValueError, match="query_dim=3, key_dim=2"):
        ka.CosineScore()(QUERY, KEYS[..., :2])


def test_half_precision_does_not_overflow():
    keras.config.set_dtype_policy("float16")
    scores = ka.CosineScore()(QUERY * 3e4, QUERY * 3e4)
    np.testing.assert_allclose(scores, [[[1]]], atol=2e-3)
