"""Errors, and the names of an older version."""

import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention.migration import attention as migration
from tests.worked import det

DIM, UNITS = 3, 2


def _arrays():
    """Of version 4.1, which has one score."""
    return {
        "at/attention_score_vec/0": det((DIM, DIM)),
        "at/attention_vector/0": det((2 * DIM, UNITS), 0.1),
    }


def _load(attention, arrays, name="at", activation="tanh", use_bias=False):
    attention.build((None, 1, DIM), (None, 5, DIM))
    dense = keras.layers.Dense(UNITS, activation, use_bias)
    dense.build((None, 2 * DIM))
    migration.load_attention(attention, arrays, name, output_layer=dense)
    return dense


def test_version_4_1():
    attention, arrays = ka.LuongAttention("general"), _arrays()
    dense = _load(attention, arrays)
    W, kernel = arrays.values()
    np.testing.assert_array_equal(attention.score.W, W.T)
    np.testing.assert_array_equal(dense.kernel, kernel)


def test_a_score_that_it_lacks():
    with pytest.raises(ValueError, match="Received: score=<DotScore"):
        _load(ka.LuongAttention("dot"), _arrays())


def test_the_other_score_is_named_with_what_there_is():
    with pytest.raises(ValueError, match="'at/bahdanau_w1'.*'at/attention_sc"):
        _load(ka.BahdanauAttention(), _arrays())


def test_a_wrong_name_shows_all_names():
    with pytest.raises(ValueError, match="no weight 'x/luong_w'.*'at/att"):
        _load(ka.LuongAttention("general"), _arrays(), "x")


def test_a_weight_too_many_is_named():
    arrays = {**_arrays(), "at/bahdanau_v/0": det((DIM, 1))}
    with pytest.raises(ValueError, match="no place for.*'at/bahdanau_v/0'"):
        _load(ka.LuongAttention("general"), arrays)


@pytest.mark.parametrize(
    "options, received",
    [
        ({"use_bias": True}, "use_bias=True"),
        ({"activation": None}, "activation=<function linear"),
    ],
)
def test_an_output_layer_that_does_something_else(options, received):
    with pytest.raises(ValueError, match=f"`output_layer` must.*{received}"):
        _load(ka.LuongAttention("general"), _arrays(), **options)
