import numpy as np
import pytest

import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked


def test_scores():
    assert_worked(ka.DotScore()(QUERY, KEYS), [[[1, 1, 0.5]]])


def test_attention():
    context, weights = ka.Attention("dot")(
        QUERY, KEYS, return_attention_scores=True
    )
    assert_worked(weights, [[[0.383652, 0.383652, 0.232697]]])
    assert_worked(context, [[[0.616348, 1, 0.232697]]])


def test_attention_with_a_hidden_key():
    context, weights = ka.Attention("dot")(
        QUERY,
        KEYS,
        value_mask=np.array([[True, True, False]]),
        return_attention_scores=True,
    )
    assert_worked(weights, [[[0.5, 0.5, 0]]])
    assert_worked(context, [[[0.5, 1, 0]]])


def test_attention_with_every_key_hidden():
    context, weights = ka.Attention("dot")(
        QUERY,
        KEYS,
        value_mask=np.zeros((1, 3), bool),
        return_attention_scores=True,
    )
    np.testing.assert_array_equal(weights, np.zeros((1, 1, 3)))
    np.testing.assert_array_equal(context, np.zeros((1, 1, 3)))


@pytest.mark.parametrize("score", [ka.DotScore, ka.ScaledDotScore])
def test_sizes_must_agree(score):
    expected = (
        rf"`{score.__name__}` needs queries and keys of one size; "
        "`BilinearScore` and `AdditiveScore` take any. Received: "
        "query_dim=3, key_dim=2"
    )
    with pytest.raises(ValueError, match=expected):
        score()(QUERY, KEYS[..., :2])
