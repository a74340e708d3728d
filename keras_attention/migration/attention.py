"""Weights of the package `attention`'s layer, out of a file of Keras 2.

    arrays = attention.read("model.h5")
    attention.load_attention(
        attend, arrays, layer="attention", output_layer=dense
    )

The package is not needed. Its `Attention` lets the last step ask the whole
sequence, and gives tanh(W_c [c; h_T]). Here, that is

    last = x[:, -1:]
    dense(concatenate([attend(last, x), last]))

with `LuongAttention("general")` for `score="luong"`, or `BahdanauAttention()`
for `score="bahdanau"`, and `Dense(units, "tanh", use_bias=False)`.
"""

import keras

from keras_attention.migration.hdf5 import read
from keras_attention.migration.weights import (
    Arrays,
    Given,
    assign,
    of_additive,
)
from keras_attention.scores.additive import AdditiveScore
from keras_attention.scores.bilinear import BilinearScore
from keras_attention.stages import Score
from keras_attention.stepwise import ScoringAttention

__all__ = ["load_attention", "read"]


def load_attention(
    attention: ScoringAttention,
    arrays: Arrays,
    layer: str,
    *,
    output_layer: keras.layers.Dense,
) -> None:
    """Sets the weights of an attention, and of the layer behind it.

    Args:
        attention: One that is built, with a `BilinearScore` or an
            `AdditiveScore`.
        arrays: From `read`.
        layer: What the names of their layer's weights begin with.
        output_layer: Their `W_c`: one that is built, with the activation
            tanh and no bias.

    Raises:
        ValueError: A layer is of another kind, a weight is missing, one too
            many, or of another shape.
    """
    has_tanh = output_layer.activation is keras.activations.tanh
    if output_layer.use_bias or not has_tanh:
        raise ValueError(
            "`output_layer` must have activation='tanh' and use_bias=False. "
            f"Received: activation={output_layer.activation!r}, "
            f"use_bias={output_layer.use_bias!r}"
        )
    given = Given(arrays, layer)
    weights = _of_score(attention.score, given)
    kernel = given.take_part("w_c", "attention_vector")
    given.check_all_taken(attention)
    assign(attention.score, weights)
    assign(output_layer, {"kernel": kernel})


def _of_score(score: Score, given: Given) -> Arrays:
    """By the names of their sublayers, of version 4.1 too."""
    if isinstance(score, BilinearScore):
        return {"W": given.take_part("luong_w", "attention_score_vec").T}
    if isinstance(score, AdditiveScore):
        names = ("bahdanau_w1", "bahdanau_w2", "bahdanau_v")
        return of_additive(score, *(given.take_part(x) for x in names))
    raise ValueError(
        "The package has the scores of BilinearScore (luong) and AdditiveScore "
        f"(bahdanau). Received: score={score!r}"
    )
