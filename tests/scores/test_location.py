import numpy as np
import pytest

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked, assign, det


def test_scores():
    score = ka.LocationScore(4)
    score.build(QUERY.shape, KEYS.shape)
    assign(score, W=det((4, 3), 0.3).T)
    assert_worked(score(QUERY, KEYS), [[[0.640003, -0.496599, -1.015409]]])


def test_attention():
    attend = ka.LuongAttention(ka.LocationScore(4))
    attend.build(QUERY.shape, KEYS.shape)
    assign(attend.score, W=det((4, 3), 0.3).T)
    _context, weights = attend(QUERY, KEYS, return_attention_scores=True)
    assert_worked(weights, [[[0.66141, 0.212252, 0.126338]]])


def test_length_defaults_to_the_first_memory():
    score = ka.LocationScore()
    score.build((None, None, 3), (None, 5, 2))
    assert score.W.shape == (3, 5)


def test_unknown_length_is_refused():
    expected = (
        "`LocationScore` has one weight per step of `value`, so its length "
        "must be known when the layer is built. Received: value with length "
        "None"
    )
    with pytest.raises(ValueError, match=expected):
        ka.LocationScore().build((None, None, 3), (None, None, 2))


def test_memory_longer_than_length_is_refused():
    expected = (
        "`length` must be at least the length of the memory. Received: "
        "length=2, Tv=3"
    )
    with pytest.raises(ValueError, match=expected):
        ka.LocationScore(2)(QUERY, KEYS)


@pytest.mark.parametrize("length", [0, -3, 1.5, True])
def test_length_must_be_a_positive_integer(length):
    expected = "`length` must be a positive integer. Received: length="
    with pytest.raises(ValueError, match=expected):
        ka.LocationScore(length)


def test_keys_do_not_count():
    score = ka.LocationScore(4)
    np.testing.assert_array_equal(score(QUERY, KEYS), score(QUERY, -KEYS))
