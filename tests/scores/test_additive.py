import pytest

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked, assign, det

U, W, V = det((2, 3), 0.1).T, det((2, 3), 0.7).T, [[1], [-2]]


def test_scores():
    score = ka.AdditiveScore(2)
    score.build(QUERY.shape, KEYS.shape)
    assign(score, U=U, W=W, v=V)
    assert_worked(score(QUERY, KEYS), [[[1.742295, 0.078857, 0.641382]]])


@pytest.mark.parametrize("name", ["additive", "concat"])
def test_attention(name):
    score = ka.AdditiveScore(2)
    attend = ka.LuongAttention(score)
    assert type(ka.LuongAttention(name).score) is ka.AdditiveScore
    attend.build(QUERY.shape, KEYS.shape)
    assign(score, U=U, W=W, v=V)
    context, weights = attend(QUERY, KEYS, return_attention_scores=True)
    assert_worked(weights, [[[0.657007, 0.124494, 0.218499]]])
    assert_worked(context, [[[0.875506, 0.467487, 0.218499]]])


def test_bias_is_added_inside_the_tanh():
    score = ka.AdditiveScore(1, use_bias=True)
    score.build((1, 1, 1), (1, 1, 1))
    assign(score, U=[[1]], W=[[1]], v=[[2]], b=[0.25])
    assert_worked(
        score(QUERY[..., :1] * 0, KEYS[:, :1, :1] * 0), [[[0.489837]]]
    )


@pytest.mark.parametrize("units", [0, -1, 2.0, True, "2"])
def test_units_must_be_a_positive_integer(units):
    expected = "`units` must be a positive integer. Received: units="
    for make in (
        ka.AdditiveScore,
        ka.NormalizedAdditiveScore,
        ka.BahdanauAttention,
    ):
        with pytest.raises(ValueError, match=expected):
            make(units)


def test_units_default_to_the_size_of_the_queries():
    score = ka.AdditiveScore()
    score.build((1, 1, 3), (1, 1, 2))
    assert score.W.shape == (3, 3)
    assert score.U.shape == (2, 3)
