"""Peers that need Keras 2: tensorflow-addons, and the package `attention`.

Each function returns our model and its peer in the other process, with the
same weights.
"""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers

import keras_attention as ka
from benchmarks import ways
from benchmarks.cases import Size
from benchmarks.other_process import OtherModel
from benchmarks.peers_naive import sequences

Pair = tuple[keras.Model, OtherModel]
WeightsOf = Callable[[Any], dict[str, np.ndarray]]


def luong_tfa(size: Size) -> Pair:
    """`tfa.seq2seq.LuongAttention`, all queries."""
    return _luong(size, size.steps)


def luong_tfa_step(size: Size) -> Pair:
    """`tfa.seq2seq.LuongAttention`, a decoder's one query."""
    return _luong(size, 1)


def _luong(size: Size, queries: int) -> Pair:
    layer = ka.LuongAttention("general")
    model = _asking(layer, size, queries)
    return model, _peer("luong", model, size, _general_weights(layer.score))


def _general_weights(score: ka.BilinearScore) -> dict[str, np.ndarray]:
    return {"memory_layer": np.transpose(score.W)}


def bahdanau_tfa(size: Size) -> Pair:
    """`tfa.seq2seq.BahdanauAttention`, all queries."""
    return _bahdanau(size, size.steps, normalize=False)


def bahdanau_tfa_step(size: Size) -> Pair:
    """`tfa.seq2seq.BahdanauAttention`, a decoder's one query."""
    return _bahdanau(size, 1, normalize=False)


def bahdanau_normalized_tfa(size: Size) -> Pair:
    """The same with `normalize=True`, all queries."""
    return _bahdanau(size, size.steps, normalize=True)


def bahdanau_normalized_tfa_step(size: Size) -> Pair:
    """The same with `normalize=True`, a decoder's one query."""
    return _bahdanau(size, 1, normalize=True)


def _bahdanau(size: Size, queries: int, normalize: bool) -> Pair:
    layer = ka.BahdanauAttention(size.dim, normalize=normalize)
    model = _asking(layer, size, queries)
    weights = _additive_weights(layer.score)
    if normalize:
        weights["attention_g"] = np.asarray(layer.score.g)
        weights["attention_b"] = np.asarray(layer.score.b)
    return model, _peer("bahdanau", model, size, weights)


def _additive_weights(
    score: ka.AdditiveScore | ka.NormalizedAdditiveScore,
) -> dict[str, np.ndarray]:
    return {
        "query_layer": np.asarray(score.W),
        "memory_layer": np.asarray(score.U),
        "attention_v": np.ravel(score.v),
    }


def monotonic_general_tfa(size: Size) -> Pair:
    """`tfa.seq2seq.LuongMonotonicAttention`, all queries."""
    return _monotonic_general(size, size.steps)


def monotonic_general_tfa_step(size: Size) -> Pair:
    """`tfa.seq2seq.LuongMonotonicAttention`, a decoder's first query."""
    return _monotonic_general(size, 1)


def _monotonic_general(size: Size, queries: int) -> Pair:
    return _monotonic("general", _general_weights, size, queries)


def monotonic_additive_tfa(size: Size) -> Pair:
    """`tfa.seq2seq.BahdanauMonotonicAttention`, all queries."""
    return _monotonic_additive(size, size.steps)


def monotonic_additive_tfa_step(size: Size) -> Pair:
    """`tfa.seq2seq.BahdanauMonotonicAttention`, a decoder's first query."""
    return _monotonic_additive(size, 1)


def _monotonic_additive(size: Size, queries: int) -> Pair:
    return _monotonic("additive", _additive_weights, size, queries)


def _monotonic(
    score: str, weights_of: WeightsOf, size: Size, queries: int
) -> Pair:
    """In the faster of tfa's modes that gives the weights of the equations."""
    layer = ka.MonotonicAttention(score)
    model = _asking(layer, size, queries)
    bias = {"attention_score_bias": np.asarray(layer.r)}
    weights = {**weights_of(layer.score), **bias}
    mode = "parallel" if queries == 1 else "recursive"
    return model, _peer("monotonic", model, size, weights, mode=mode)


def sparsemax_tfa(size: Size) -> Pair:
    """`tfa.activations.sparsemax` over the general score."""
    layer = ka.Attention("general", "sparsemax")
    model = _asking(layer, size, size.steps)
    weights = {"W": np.asarray(layer.score.W)}
    return model, _peer("sparsemax", model, size, weights)


def multi_head_tfa(size: Size) -> Pair:
    """`tfa.layers.MultiHeadAttention`."""
    head = size.dim // size.heads
    layer = ka.MultiHeadAttention(size.heads, head, use_bias=False)
    model = _asking(layer, size, size.steps)
    kernels = {"query": layer.W_Q, "key": layer.W_K, "value": layer.W_V}
    weights = {
        name: np.transpose(kernel, (1, 0, 2))
        for name, kernel in kernels.items()
    }
    weights["projection"] = np.asarray(layer.W_O)
    peer = _peer(
        "multi_head", model, size, weights, heads=size.heads, head=head
    )
    return model, peer


def luong_many_to_one(size: Size) -> Pair:
    """`attention.Attention(score="luong")`."""
    layer = ka.LuongAttention("general")
    model, w_c = _many_to_one(layer, size)
    weights = {"luong_w": np.transpose(layer.score.W), "w_c": w_c}
    return model, _last_step(model, size, weights, "luong")


def bahdanau_many_to_one(size: Size) -> Pair:
    """`attention.Attention(score="bahdanau")`."""
    layer = ka.BahdanauAttention(size.dim)
    model, w_c = _many_to_one(layer, size)
    weights = {
        "bahdanau_w1": np.asarray(layer.score.W),
        "bahdanau_w2": np.asarray(layer.score.U),
        "bahdanau_v": np.asarray(layer.score.v),
        "w_c": w_c,
    }
    return model, _last_step(model, size, weights, "bahdanau")


def _many_to_one(
    layer: keras.Layer, size: Size
) -> tuple[keras.Model, np.ndarray]:
    """The last step asks the sequence; `tanh(W_c [c; h])`."""
    x, _value = sequences(size)
    last = x[:, -1:]
    both = layers.Concatenate()([layer(last, x), last])
    w_c = layers.Dense(size.dim, "tanh", use_bias=False)
    output = layers.Reshape((size.dim,))(w_c(both))
    return keras.Model(x, output), np.asarray(w_c.kernel)


def _last_step(
    model: keras.Model, size: Size, weights: dict[str, np.ndarray], score: str
) -> OtherModel:
    return _peer(
        "many_to_one", model, size, weights, units=size.dim, score=score
    )


def _asking(layer: keras.Layer, size: Size, queries: int) -> keras.Model:
    query, value = keras.Input((queries, size.dim)), sequences(size)[1]
    return keras.Model([query, value], layer(query, value))


def _peer(
    case: str,
    model: keras.Model,
    size: Size,
    weights: dict[str, np.ndarray],
    **settings: int | str,
) -> OtherModel:
    """With the inputs, the target and the step size that ours has."""
    inputs = ways.inputs_of(model, size.batch)
    shape = (size.batch, *model.output_shape[1:])
    return OtherModel(
        case,
        [np.asarray(x) for x in inputs],
        np.asarray(ways.like(keras.KerasTensor(shape))),
        weights,
        {**settings, "learning_rate": ways.LEARNING_RATE},
    )
