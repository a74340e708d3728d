"""Errors; what loads is tested with the layers themselves."""

import pytest

import keras_attention as ka
from keras_attention.migration import kaggle as migration
from tests.worked import det

STEPS, DIM = 5, 3
SHAPE = (None, STEPS, DIM)
POOLING = {"at/W": det((DIM,)), "at/b": det((STEPS,))}
CONTEXT = {
    "at/W": det((DIM, DIM)),
    "at/b": det((DIM,), 0.1),
    "at/u": det((DIM,), 0.2),
}


def _load_pooling(arrays=POOLING, name="at", **options):
    pooling = ka.FeedForwardAttention(**options)
    pooling.build(SHAPE)
    migration.load_pooling(pooling, arrays, name)


def _load_attention(score, arrays=CONTEXT):
    attention = ka.Attention(score)
    attention.build((None, 1, DIM), SHAPE)
    migration.load_attention(attention, arrays, "at")


def test_one_bias_for_all_steps():
    with pytest.raises(ValueError, match=r"`b`.*\(1,\).*\(5,\)"):
        _load_pooling()


def test_no_bias():
    with pytest.raises(ValueError, match="has no `b`, but the file has one"):
        _load_pooling(activation=None)


def test_a_wrong_name_shows_all_names():
    with pytest.raises(ValueError, match="1 to 2 weights below 'x/'.*'at/W'"):
        _load_pooling(name="x")


def test_a_weight_too_many():
    with pytest.raises(ValueError, match="1 to 2 weights.*'at/u'"):
        _load_pooling(CONTEXT)


def test_pooling_that_is_not_built():
    pooling = ka.FeedForwardAttention()
    with pytest.raises(ValueError, match="Attention must be built"):
        migration.load_pooling(pooling, POOLING, "at")


def test_a_score_without_hidden_layer():
    with pytest.raises(ValueError, match="Received: score=<BilinearScore"):
        _load_attention("general")


def test_a_score_without_bias():
    with pytest.raises(ValueError, match="has no `b`, but the file has one"):
        _load_attention("additive")


def test_an_attention_that_is_not_built():
    attention = ka.BahdanauAttention(DIM)
    with pytest.raises(ValueError, match="AdditiveScore must be built"):
        migration.load_attention(attention, CONTEXT, "at")
