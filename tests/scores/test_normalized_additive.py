import numpy as np

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.scores.test_additive import U, V, W
from tests.worked import assert_worked, assign


def _score(g, b):
    score = ka.NormalizedAdditiveScore(2)
    score.build(QUERY.shape, KEYS.shape)
    assign(score, U=U, W=W, v=V, g=g, b=b)
    return score(QUERY, KEYS)


def test_equals_the_additive_score_when_g_is_the_length_of_v():
    expected = [[[1.742295, 0.078857, 0.641382]]]
    assert_worked(_score(5**0.5, [0, 0]), expected)


def test_length_of_v_does_not_count():
    b = np.array([0.3, -0.2])
    v = np.array([1, -2]) / 5**0.5
    expected = 0.7 * np.tanh(QUERY @ W + KEYS @ U + b) @ v
    assert_worked(_score(0.7, b), expected[:, None])


def test_starts_as_in_tensorflow_addons():
    score = ka.NormalizedAdditiveScore(16)
    score.build((1, 1, 3), (1, 1, 3))
    assert_worked(score.g, 0.25)
    assert_worked(score.b, np.zeros(16))
