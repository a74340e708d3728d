"""Weights of TensorFlow Addons' decoders, out of a TensorFlow checkpoint.

    arrays = tensorflow_addons.read("training_checkpoints/ckpt-7")
    tensorflow_addons.load_decoder(
        decoder,
        arrays,
        wrapper="decoder/rnn_cell",
        embedding="decoder/embedding",
        output_layer="decoder/fc",
    )

TensorFlow-only: TensorFlow alone reads its checkpoints. TensorFlow Addons is
not needed. A checkpoint names a weight by the way to it, over attributes, from
what was given to `tf.train.Checkpoint`: the names are in `arrays`.

What loads is what has the same function here: `LuongAttention("general")`,
whose `W` takes up the factor of `scale=True`; `BahdanauAttention`, normalized
or not; `MonotonicAttention` with `BilinearScore`, `AdditiveScore` or
`NormalizedAdditiveScore`; and an `AttentionWrapper` around LSTM, GRU or simple
cells as an `AttentionCell` in Luong's order, with input feeding. Their
`attention_layer_size` is `units` with `activation=None`. A checkpoint tells
neither activations nor whether there was `output_attention=False`, which does
not load; so these are not checked.
"""

import os
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_attention.decoding.attention_cell import AttentionCell
from keras_attention.decoding.attention_decoder import AttentionDecoder
from keras_attention.encoder_decoder.monotonic import MonotonicAttention
from keras_attention.migration.weights import (
    Arrays,
    Given,
    assign,
    of_additive,
)
from keras_attention.scores.additive import AdditiveScore
from keras_attention.scores.bilinear import BilinearScore
from keras_attention.scores.normalized_additive import NormalizedAdditiveScore
from keras_attention.stages import Score
from keras_attention.stepwise import StepwiseAttention

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
SLOT = "/.OPTIMIZER_SLOT/"


def read(path: str | os.PathLike[str]) -> Arrays:
    """The variables of a checkpoint by name, as arrays.

    What optimizers keep beside each weight is left out.

    Args:
        path: What `tf.train.Checkpoint.save` returned, what
            `Model.save_weights` of Keras 2 was given, or the folder of either.
    """
    reader = tf.train.load_checkpoint(os.fspath(path))
    return {
        name.removesuffix(VALUE): reader.get_tensor(name)
        for name in sorted(reader.get_variable_to_shape_map())
        if name.endswith(VALUE) and SLOT not in name
    }


def load_attention(
    attention: StepwiseAttention, arrays: Arrays, mechanism: str
) -> None:
    """Sets the weights of an attention.

    Args:
        attention: One that is built.
        arrays: From `read`.
        mechanism: What the names of the mechanism's weights begin with.

    Raises:
        ValueError: The checkpoint lacks a weight, has one more than the
            attention, or one of another shape.
    """
    given = Given(arrays, mechanism)
    score: Any = getattr(attention, "score", None)
    weights = _of_score(score, given)
    own = {}
    if isinstance(attention, MonotonicAttention):
        own = {"r": given.take("attention_score_bias")}
    given.check_all_taken(attention)
    assign(score, weights)
    assign(attention, own)


def load_cell(
    cell: AttentionCell,
    arrays: Arrays,
    wrapper: str,
    *,
    mechanism: str | None = None,
    recurrent: str | None = None,
    attention_layer: str | None = None,
) -> None:
    """Sets the weights of a cell and its attention.

    Args:
        cell: One that is built.
        arrays: From `read`.
        wrapper: What the names of the AttentionWrapper's weights begin with.
        mechanism: The same of its mechanism, if something else has it too and
            gave it a shorter name.
        recurrent: Likewise, of its cell.
        attention_layer: Likewise, of its attention layer.

    Raises:
        ValueError: The cell cannot do what a wrapper does, or as
            `load_attention`.
    """
    if cell.order != "luong" or not cell.input_feeding:
        raise ValueError(
            "An AttentionWrapper is an AttentionCell with order='luong' and "
            f"input_feeding=True. Received: order={cell.order!r}, "
            f"input_feeding={cell.input_feeding!r}"
        )
    first = f"{wrapper}/_attention_mechanisms/0"
    load_attention(cell.attention, arrays, mechanism or first)
    _load_recurrent(cell.cell, arrays, recurrent or f"{wrapper}/_cell")
    if cell.units:
        given = Given(
            arrays, attention_layer or f"{wrapper}/_attention_layers/0"
        )
        kernel = given.take("kernel")
        given.check_all_taken(cell)
        assign(cell, {"W": _of_context_first(cell, kernel)})


def load_decoder(
    decoder: AttentionDecoder,
    arrays: Arrays,
    wrapper: str,
    *,
    embedding: str,
    output_layer: str,
    **names: str | None,
) -> None:
    """Sets the weights of a decoder.

    A wrapper without `attention_layer_size` gives the context alone to the
    output layer, a cell without `units` gives [c; s]: then the rows of the
    output layer that are for `s` become 0. They learn if you train on.

    Args:
        decoder: One that is built, its embedding a `keras.layers.Embedding`,
            its output layer a `keras.layers.Dense`.
        arrays: From `read`.
        wrapper: What the names of the AttentionWrapper's weights begin with.
        embedding: The same of the embedding.
        output_layer: The same of the output layer.
        **names: As in `load_cell`.

    Raises:
        ValueError: As `load_cell`.
    """
    load_cell(decoder.cell, arrays, wrapper, **names)
    _load_as_named(decoder.embedding, arrays, embedding, ["embeddings"])
    if not decoder.cell.units:
        arrays = _of_both(decoder.cell, arrays, output_layer)
    _load_as_named(
        decoder.output_layer, arrays, output_layer, ["kernel", "bias"]
    )


def _of_score(score: Score, given: Given) -> Arrays:
    if isinstance(score, BilinearScore):
        scale = given.take("attention_g") if "attention_g" in given else 1.0
        return {"W": scale * given.take("memory_layer/kernel").T}
    if not isinstance(score, (AdditiveScore, NormalizedAdditiveScore)):
        raise ValueError(
            "TensorFlow Addons has the scores of BilinearScore, AdditiveScore "
            f"and NormalizedAdditiveScore. Received: score={score!r}"
        )
    W = given.take("query_layer/kernel")
    U = given.take("memory_layer/kernel")
    v = given.take("attention_v")
    if isinstance(score, AdditiveScore):
        return of_additive(score, W, U, v)
    g, b = given.take("attention_g"), given.take("attention_b")
    return {"W": W, "U": U, "v": v[:, None], "g": g, "b": b}


def _of_context_first(cell: AttentionCell, kernel: np.ndarray) -> np.ndarray:
    """Theirs is a layer of [s; c], ours of [c; s]."""
    size = kernel.shape[0] - cell._context_dim
    return np.concatenate([kernel[size:], kernel[:size]])


def _of_both(cell: AttentionCell, arrays: Arrays, output_layer: str) -> Arrays:
    """With a kernel of [c; s] in place of theirs, of c."""
    kernel = Given(arrays, output_layer).take("kernel")
    of_s = cell.output_size - cell._context_dim
    both = np.pad(kernel, [[0, of_s], [0, 0]])
    return {**arrays, f"{output_layer}/kernel": both}


def _load_recurrent(cell: keras.Layer, arrays: Arrays, name: str) -> None:
    for number, each in enumerate(getattr(cell, "cells", [])):
        _load_recurrent(each, arrays, f"{name}/cells/{number}")
    if not hasattr(cell, "cells"):
        names = ["kernel", "recurrent_kernel", "bias"]
        _load_as_named(cell, arrays, name, names)


def _load_as_named(
    layer: keras.Layer, arrays: Arrays, name: str, weights: list[str]
) -> None:
    """A Keras layer's, which have the same names and layout in Keras 2."""
    given = Given(arrays, name)
    has = [each for each in weights if getattr(layer, each, None) is not None]
    taken = {each: given.take(each) for each in has}
    given.check_all_taken(layer)
    assign(layer, taken)
