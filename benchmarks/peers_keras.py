"""Peers that run on Keras 3: its own layers and `keras-self-attention`'s.

Each function returns two models with the same weights, ours and the peer's.
"""

from typing import Any

import keras
from keras import layers

import keras_attention as ka
from benchmarks.cases import Size
from benchmarks.peers_naive import Pair, dense, pair, projected, sequences


def luong_dot(size: Size) -> Pair:
    """`keras.layers.Attention`."""
    given, ours, theirs = projected(size)
    ours = ka.LuongAttention("dot")(*ours)
    return pair(given, ours, layers.Attention()(theirs))


def scaled_dot(size: Size) -> Pair:
    """A rescaled query before `keras.layers.Attention`."""
    given, ours, (query, value) = projected(size)
    ours = ka.Attention("scaled_dot")(*ours)
    query = layers.Rescaling(size.dim**-0.5)(query)
    return pair(given, ours, layers.Attention()([query, value]))


def luong_general(size: Size) -> Pair:
    """A matrix before `keras.layers.Attention`."""
    query, value = given = sequences(size)
    ours = ka.LuongAttention("general")(query, value)
    theirs = layers.Attention()([dense(size.dim)(query), value])
    return pair(given, ours, theirs)


def luong_concat(size: Size) -> Pair:
    """Two matrices before `keras.layers.AdditiveAttention`."""
    query, value = given = sequences(size)
    ours = ka.LuongAttention("concat")
    additive = layers.AdditiveAttention()
    W, U = dense(size.dim), dense(size.dim)
    models = (
        keras.Model(given, ours(query, value)),
        keras.Model(given, additive([W(query), value, U(value)])),
    )
    *kernels, v = ours.get_weights()
    models[1].set_weights([*kernels, v[:, 0]])
    return models


def scaled_dot_self(size: Size) -> Pair:
    """`ScaledDotProductAttention` of keras-self-attention."""
    import keras_self_attention

    given, ours, (query, value) = projected(size)
    ours = ka.Attention("scaled_dot")(*ours)
    layer = keras_self_attention.ScaledDotProductAttention()
    return pair(given, ours, layer([query, value, value]))


def luong_general_self(size: Size) -> Pair:
    """`SeqSelfAttention`, multiplicative."""
    x, _value = sequences(size)
    ours = ka.LuongAttention("general")(x, x)
    return pair(x, ours, _seq_self("multiplicative")(x))


def bahdanau_self(size: Size) -> Pair:
    """`SeqSelfAttention`, additive."""
    x, _value = sequences(size)
    ours = ka.BahdanauAttention(size.dim)(x, x)
    return pair(x, ours, _seq_self("additive", units=size.dim)(x))


def local_monotonic(size: Size, radius: int = 10) -> Pair:
    """`SeqSelfAttention`, multiplicative, with a window."""
    x, _value = sequences(size)
    ours = ka.LocalMonotonicAttention(radius)(x, x)
    width = 2 * radius + 1
    theirs = _seq_self("multiplicative", attention_width=width)(x)
    return pair(x, ours, theirs)


def _seq_self(attention_type: str, **kwargs: Any) -> keras.Layer:
    """Without the biases that our scores do not have."""
    import keras_self_attention

    return keras_self_attention.SeqSelfAttention(
        attention_type=attention_type,
        use_additive_bias=False,
        use_attention_bias=False,
        **kwargs,
    )


def feed_forward_weighted(size: Size) -> Pair:
    """`SeqWeightedAttention` of keras-self-attention, without its bias."""
    import keras_self_attention

    x, _value = sequences(size)
    ours = ka.FeedForwardAttention(activation=None)(x)
    layer = keras_self_attention.SeqWeightedAttention(use_bias=False)
    return pair(x, ours, layer(x))
