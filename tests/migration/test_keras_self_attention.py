"""Errors; what loads is tested with the package itself."""

import pytest

import keras_attention as ka
from keras_attention.migration import keras_self_attention as migration
from tests.worked import det

DIM, UNITS = 3, 2
SHAPE = (None, 5, DIM)
ADDITIVE = {
    "at/0": det((DIM, UNITS)),
    "at/1": det((DIM, UNITS), 0.1),
    "at/2": det((UNITS,), 0.2),
    "at/3": det((UNITS, 1), 0.3),
    "at/4": det((1,), 0.4),
}
WEIGHTED = {"at/0": det((DIM, 1)), "at/1": det((1,))}


def _load(attention, arrays=ADDITIVE, name="at"):
    attention.build(SHAPE, SHAPE)
    migration.load_attention(attention, arrays, name)


def _load_pooling(arrays=WEIGHTED, name="at", activation=None):
    pooling = ka.FeedForwardAttention(activation=activation)
    pooling.build(SHAPE)
    migration.load_pooling(pooling, arrays, name)


def test_a_score_of_the_other_kind():
    expected = r"score=<BilinearScore.*\(3, 2\), \(3, 2\), \(2,\), \(2, 1\)"
    with pytest.raises(ValueError, match=expected):
        _load(ka.LuongAttention("general"))


def test_a_score_that_it_lacks():
    with pytest.raises(ValueError, match="Received: score=<CosineScore"):
        _load(ka.Attention("cosine"))


def test_a_bias_without_a_place():
    with pytest.raises(ValueError, match="AdditiveScore as it was made has no"):
        _load(ka.BahdanauAttention(UNITS))


def test_a_wrong_shape_is_shown():
    attention = ka.Attention(ka.AdditiveScore(UNITS + 1, use_bias=True))
    with pytest.raises(ValueError, match=r"`W`.*\(3, 3\).*\(3, 2\)"):
        _load(attention)


def test_a_wrong_name_shows_all_names():
    with pytest.raises(ValueError, match="below 'x/'. Received:.*'at/4'"):
        _load(ka.BahdanauAttention(UNITS), name="x")


def test_an_attention_that_is_not_built():
    attention = ka.BahdanauAttention(UNITS)
    with pytest.raises(ValueError, match="AdditiveScore must be built"):
        migration.load_attention(attention, ADDITIVE, "at")


def test_pooling_with_an_activation():
    with pytest.raises(ValueError, match="`activation` must be None.*tanh"):
        _load_pooling(activation="tanh")


def test_pooling_with_another_layers_weights():
    with pytest.raises(ValueError, match="1 to 2 weights.*'at/0', 'at/1', 'at"):
        _load_pooling(ADDITIVE)
