import numpy as np
import pytest

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked, assign

W = [[1, 0, 2], [0, 1, 0], [0.5, 0, 1]]


def test_scores():
    score = ka.BilinearScore()
    score.build(QUERY.shape, KEYS.shape)
    assign(score, W=W)
    assert_worked(score(QUERY, KEYS), [[[0.5, 1, 2]]])


@pytest.mark.parametrize("name", ["general", "bilinear"])
def test_attention(name):
    attend = ka.LuongAttention(name)
    attend.build(QUERY.shape, KEYS.shape)
    assign(attend.score, W=W)
    context, weights = attend(QUERY, KEYS, return_attention_scores=True)
    assert_worked(weights, [[[0.140244, 0.231224, 0.628532]]])
    assert_worked(context, [[[0.768776, 1.09098, 0.628532]]])


def test_sizes_may_differ():
    score = ka.BilinearScore()
    score.build((1, 1, 3), (1, 3, 2))
    W = np.array([[1, 2], [3, 4], [5, 6]])
    assign(score, W=W)
    keys = KEYS[..., :2]
    assert_worked(score(QUERY, keys), QUERY @ W @ keys.swapaxes(1, 2))
