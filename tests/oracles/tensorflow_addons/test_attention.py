"""Mechanisms, heads, sparsemax and the loss, on the same weights."""

import keras
import pytest

import keras_attention as ka
from tests.oracles.tensorflow_addons import inputs, ours
from tests.worked import assign


@pytest.mark.parametrize("name", inputs.MECHANISMS)
def test_weights(addons, name):
    weights = ours.ask(name, None, inputs.attention())
    ours.assert_equal(weights, addons["attention"][name])


def test_sparsemax(addons):
    weights = ka.SparsemaxAlignment()(inputs.attention()["scores"])
    ours.assert_equal(weights, addons["attention"]["sparsemax"])


def test_multi_head(addons):
    """Theirs has one bias, behind the last projection."""
    given = {**inputs.attention(), **inputs.heads()}
    layer = ka.MultiHeadAttention(2, 3, output_dim=inputs.UNITS)
    query, value = given["query"], given["value"]
    layer.build(query.shape, value.shape)
    letters = {f"W_{x}": given[f"heads_{x}"] for x in "QKVO"}
    assign(layer, **letters, b_O=given["heads_b"])
    output, weights = layer(
        query,
        value,
        attention_mask=given["pairs"],
        return_attention_scores=True,
    )
    theirs = addons["attention"]
    ours.assert_equal(output, theirs["multi_head"])
    ours.assert_equal(weights, theirs["multi_head_weights"])


def test_sequence_loss(addons):
    """The mean over real tokens, however the padding is marked."""
    given = inputs.decoders()
    is_real = inputs.real(given["targets_lengths"], inputs.T)
    weighed = ka.TokenCrossentropy()(
        given["targets"], given["logits"], sample_weight=is_real
    )
    ignored = ka.TokenCrossentropy(ignore_class=0)(
        given["targets"] * is_real, given["logits"]
    )
    assert not is_real.all()
    for loss in (weighed, ignored):
        loss = keras.ops.convert_to_numpy(loss)
        ours.assert_equal(loss, addons["decoders"]["loss"])
