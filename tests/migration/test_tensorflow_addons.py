"""Errors, and checkpoints that need no tensorflow-addons to be written."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.decoding.attention_cell import AttentionCell
from keras_attention.migration import tensorflow_addons as migration
from tests.worked import det

QUERY, VALUE, HIDDEN, UNITS, INPUT = 3, 4, 5, 2, 6


def _arrays():
    """Of a wrapper around a GRU."""
    return {
        "at/query_layer/kernel": det((QUERY, HIDDEN)),
        "at/memory_layer/kernel": det((VALUE, HIDDEN), 0.1),
        "at/attention_v": det((HIDDEN,), 0.2),
        "to/kernel": det((QUERY + VALUE, UNITS), 0.3),
        "rnn/_cell/cells/0/kernel": det((INPUT + UNITS, 3 * QUERY), 0.4),
        "rnn/_cell/cells/0/recurrent_kernel": det((QUERY, 3 * QUERY), 0.5),
        "rnn/_cell/cells/0/bias": det((2, 3 * QUERY), 0.6),
    }


def _cell(attention=None, **options):
    cell = AttentionCell(
        keras.layers.StackedRNNCells([keras.layers.GRUCell(QUERY)]),
        attention or ka.BahdanauAttention(HIDDEN),
        units=UNITS,
        **{"input_feeding": True, **options},
    )
    cell.build((1, INPUT), (1, 7, VALUE))
    return cell


def _load(cell, arrays):
    names = {"mechanism": "at", "attention_layer": "to"}
    migration.load_cell(cell, arrays, "rnn", **names)


def test_reads_variables_by_name(tmp_path):
    model = tf.Module()
    model.x = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(model=model).save(tmp_path / "checkpoint")
    for given in (path, tmp_path):
        arrays = migration.read(given)
        assert set(arrays) == {"model/x", "save_counter"}
        np.testing.assert_array_equal(arrays["model/x"], [1, 2])


def test_loads_every_weight_to_its_place():
    cell, arrays = _cell(), _arrays()
    _load(cell, arrays)
    score, (gru,) = cell.attention.score, cell.cell.cells
    W = arrays["to/kernel"]
    for variable, expected in (
        (score.W, arrays["at/query_layer/kernel"]),
        (score.U, arrays["at/memory_layer/kernel"]),
        (score.v, arrays["at/attention_v"][:, None]),
        (cell.W, np.concatenate([W[QUERY:], W[:QUERY]])),
        (gru.kernel, arrays["rnn/_cell/cells/0/kernel"]),
        (gru.recurrent_kernel, arrays["rnn/_cell/cells/0/recurrent_kernel"]),
        (gru.bias, arrays["rnn/_cell/cells/0/bias"]),
    ):
        np.testing.assert_array_equal(variable, expected)


def test_a_missing_weight_is_named_with_what_there_is():
    arrays = _arrays()
    del arrays["at/attention_v"]
    with pytest.raises(ValueError, match="no weight 'at/attention_v'.*'at/mem"):
        _load(_cell(), arrays)


def test_a_wrong_name_shows_all_names():
    with pytest.raises(ValueError, match="no weight 'x/_attention_mech.*rnn"):
        migration.load_cell(_cell(), _arrays(), "x")


def test_a_weight_too_many_is_named():
    arrays = {**_arrays(), "at/attention_g": np.float32(1)}
    with pytest.raises(ValueError, match="no place for.*'at/attention_g'"):
        _load(_cell(), arrays)


def test_a_wrong_shape_is_shown():
    arrays = {**_arrays(), "at/attention_v": det((HIDDEN + 1,))}
    with pytest.raises(ValueError, match=r"`v`.*\(5, 1\).*\(6, 1\)"):
        _load(_cell(), arrays)


def test_a_cell_that_is_no_wrapper():
    with pytest.raises(ValueError, match="Received: order='bahdanau'"):
        _load(_cell(order="bahdanau"), _arrays())


def test_a_score_that_they_lack():
    attention = ka.LuongAttention("dot")
    with pytest.raises(ValueError, match="Received: score=<DotScore"):
        migration.load_attention(attention, _arrays(), "at")


def test_an_attention_that_is_not_built():
    attention = ka.BahdanauAttention(HIDDEN)
    with pytest.raises(ValueError, match="AdditiveScore must be built"):
        migration.load_attention(attention, _arrays(), "at")
