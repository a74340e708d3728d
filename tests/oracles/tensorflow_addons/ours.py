"""Our layers, with the weights that tensorflow-addons is given."""

import keras
import numpy as np
from keras import ops

import keras_attention as ka
from keras_attention.decoding.attention_cell import AttentionCell
from keras_attention.decoding.attention_decoder import AttentionDecoder
from tests.oracles.tensorflow_addons import inputs
from tests.worked import assign

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def mask(given):
    """True where the memory is no padding."""
    return inputs.real(given["lengths"], inputs.S)


def attention(name, mode=None):
    """The layer that does what a mechanism does."""
    if mode is None:
        if name.startswith("luong"):
            return ka.LuongAttention("general")
        return ka.BahdanauAttention(inputs.HIDDEN, normalize="_" in name)
    score = {
        "luong": ka.BilinearScore,
        "luong_scaled": ka.BilinearScore,
        "bahdanau": lambda: ka.AdditiveScore(inputs.HIDDEN),
        "bahdanau_normalized": lambda: ka.NormalizedAdditiveScore(
            inputs.HIDDEN
        ),
    }
    return ka.MonotonicAttention(score[name](), mode)


def fill(attention, name, given):
    """Sets the weights of a layer that is built."""
    assign(attention.score, **_of_score(name, given))
    if isinstance(attention, ka.MonotonicAttention):
        assign(attention, r=given["r"])


def ask(name, mode, given):
    """The weights of all queries."""
    query, value = given["query"], given["value"]
    layer = attention(name, mode)
    layer.build(query.shape, value.shape)
    fill(layer, name, given)
    _context, weights = layer(
        query, value, value_mask=mask(given), return_attention_scores=True
    )
    return weights


def cell(name, mode, fed):
    """The cell that does what an AttentionWrapper does."""
    return AttentionCell(
        keras.layers.LSTMCell(inputs.CELL),
        attention(name, mode),
        units=None if fed == "context" else inputs.UNITS,
        activation=None if fed == "context" else fed,
        input_feeding=True,
    )


def fill_cell(cell, given, name, mode, fed):
    """Sets the weights of a cell that is built."""
    kernel = given["kernel_context" if fed == "context" else "kernel_layer"]
    assign(
        cell.cell,
        kernel=kernel,
        recurrent_kernel=given["recurrent_kernel"],
        bias=given["bias"],
    )
    fill(cell.attention, name, given)
    if fed != "context":
        assign(cell, W=given["W"])


def decoder(given, name, may_end=True):
    """The decoder that does what theirs do."""
    case = inputs.DECODERS[name]
    made = AttentionDecoder(
        cell(*case),
        keras.layers.Embedding(inputs.TOKENS, inputs.EMBEDDING),
        keras.layers.Dense(inputs.TOKENS),
    )
    made.build(given["targets"].shape, given["value"].shape)
    fill_cell(made.cell, given, *case)
    made.embedding.set_weights([given["embedding"]])
    kernel = inputs.output_W(given, name)
    # Without a layer of both, ours gives [c; s] where theirs gives c.
    more = made.output_layer.kernel.shape[0] - kernel.shape[0]
    kernel = np.pad(kernel, [[0, more], [0, 0]])
    made.output_layer.set_weights([kernel, inputs.output_b(given, may_end)])
    return made


def generate(decoder, given, **options):
    """Sequences for the memory, as arrays."""
    found = decoder.generate(
        given["value"],
        mask(given),
        [given["h"], given["c"]],
        max_length=inputs.MAX_LENGTH,
        start_id=inputs.START,
        end_id=inputs.END,
        **options,
    )
    return type(found)(*(ops.convert_to_numpy(x) for x in found))


def assert_equal(ours, theirs):
    """To rounding."""
    np.testing.assert_allclose(ours, theirs, **CLOSE)


def _of_score(name, given):
    if name.startswith("luong"):
        # Their factor `g` is a part of our `W`.
        g = given["luong_g"] if "_" in name else 1
        return {"W": g * given["luong_W"]}
    letters = "WUvgb" if "_" in name else "WUv"
    weights = {letter: given[f"bahdanau_{letter}"] for letter in letters}
    return {**weights, "v": weights["v"][:, None]}
