"""Ours and Keras's own layer in two models with the same weights."""

from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks.cases import Case

Pair = dict[str, keras.Model]


def multi_head(case: Case) -> Pair:
    """Self-attention by `MultiHeadAttention`, and by Keras's."""
    x = keras.Input((case.steps, case.dim))
    arguments = {
        "num_heads": case.heads,
        "key_dim": case.dim // case.heads,
        "dtype": policy(case),
    }
    ours = ka.MultiHeadAttention(**arguments)
    theirs = keras.layers.MultiHeadAttention(**arguments)
    pair = {
        "ours": keras.Model(x, ours(x, x)),
        "keras": keras.Model(x, theirs(x, x)),
    }
    ours.set_weights(theirs.get_weights())
    return pair


def bahdanau(case: Case) -> Pair:
    """`BahdanauAttention`, and Keras's with a Dense for `W` and for `U`."""
    query, value = query_and_value(case)
    dtype = policy(case)
    ours = ka.BahdanauAttention(case.dim, dtype=dtype)
    W = keras.layers.Dense(case.dim, use_bias=False, dtype=dtype)
    U = keras.layers.Dense(case.dim, use_bias=False, dtype=dtype)
    additive = keras.layers.AdditiveAttention(dtype=dtype)
    pair = {
        "ours": keras.Model([query, value], ours(query, value)),
        "keras": keras.Model(
            [query, value], additive([W(query), value, U(value)])
        ),
    }
    W.set_weights([ours.score.W])
    U.set_weights([ours.score.U])
    additive.set_weights([np.ravel(ours.score.v)])
    return pair


def dot(case: Case) -> Pair:
    """`Attention("dot")`, and Keras's, without weights."""
    query, value = query_and_value(case)
    ours = ka.Attention("dot", dtype=policy(case))
    theirs = keras.layers.Attention(dtype=policy(case))
    return {
        "ours": keras.Model([query, value], ours(query, value)),
        "keras": keras.Model([query, value], theirs([query, value])),
    }


def policy(case: Case) -> keras.DTypePolicy:
    """The case's, for a layer."""
    return keras.DTypePolicy(case.dtype)


def query_and_value(case: Case) -> tuple[Any, Any]:
    """Two inputs of a model."""
    shape = (case.steps, case.dim)
    return keras.Input(shape), keras.Input(shape)
