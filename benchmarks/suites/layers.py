"""Our layers and Keras's, in models that do the same."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks.cases import Case

Pair = dict[str, keras.Model]
Attend = Callable[[Any, Any], Any]


def multi_head(case: Case) -> Pair:
    """Self-attention by `MultiHeadAttention`, and by Keras's."""
    x = keras.Input((case.steps, case.dim))
    ours, theirs = OURS["multi_head"](case), KERAS["multi_head"](case)
    pair = {
        "ours": keras.Model(x, ours(x, x)),
        "keras": keras.Model(x, theirs(x, x)),
    }
    ours.set_weights(theirs.get_weights())
    return pair


def bahdanau(case: Case) -> Pair:
    """`BahdanauAttention`, and Keras's with a Dense for `W` and for `U`."""
    query, value = query_and_value(case)
    ours, theirs = OURS["additive"](case), KERAS["additive"](case)
    pair = {
        "ours": keras.Model([query, value], ours(query, value)),
        "keras": keras.Model([query, value], theirs(query, value)),
    }
    score = ours.score
    pair["keras"].set_weights([score.W, score.U, np.ravel(score.v)])
    return pair


def dot(case: Case) -> Pair:
    """`Attention("dot")`, and Keras's, without weights."""
    query, value = query_and_value(case)
    return {
        "ours": keras.Model([query, value], OURS["dot"](case)(query, value)),
        "keras": keras.Model([query, value], KERAS["dot"](case)(query, value)),
    }


def policy(case: Case) -> keras.DTypePolicy:
    """The case's, for a layer."""
    return keras.DTypePolicy(case.dtype)


def query_and_value(case: Case) -> tuple[Any, Any]:
    """Two inputs of a model."""
    shape = (case.steps, case.dim)
    return keras.Input(shape), keras.Input(shape)


def _of_score(name: str, **kwargs: Any) -> Callable[[Case], Attend]:
    return lambda case: ka.Attention(name, dtype=policy(case), **kwargs)


def _heads(case: Case) -> dict[str, Any]:
    size = case.dim // case.heads
    return {
        "num_heads": case.heads,
        "key_dim": size,
        "dtype": policy(case),
    }


def _keras_general(case: Case) -> Attend:
    W = keras.layers.Dense(case.dim, use_bias=False, dtype=policy(case))
    attend = keras.layers.Attention(dtype=policy(case))
    return lambda query, value: attend([query, value, W(value)])


def _keras_dot(case: Case) -> Attend:
    attend = keras.layers.Attention(dtype=policy(case))
    return lambda query, value: attend([query, value])


def _keras_additive(case: Case) -> Attend:
    W, U = (
        keras.layers.Dense(case.dim, use_bias=False, dtype=policy(case))
        for _ in range(2)
    )
    attend = keras.layers.AdditiveAttention(dtype=policy(case))
    return lambda query, value: attend([W(query), value, U(value)])


#: Layers of ours, called with query and value.
OURS: dict[str, Callable[[Case], Any]] = {
    "multi_head": lambda case: ka.MultiHeadAttention(**_heads(case)),
    "dot": _of_score("dot"),
    "scaled_dot": _of_score("scaled_dot"),
    "bilinear": _of_score("bilinear"),
    "additive": lambda case: ka.BahdanauAttention(case.dim, dtype=policy(case)),
    "normalized_additive": lambda case: ka.BahdanauAttention(
        case.dim, normalize=True, dtype=policy(case)
    ),
    "cosine": _of_score("cosine"),
    "location": _of_score("location"),
}

#: Keras's own, where it has one, with its projections.
KERAS: dict[str, Callable[[Case], Any]] = {
    "multi_head": lambda case: keras.layers.MultiHeadAttention(**_heads(case)),
    "dot": _keras_dot,
    "bilinear": _keras_general,
    "additive": _keras_additive,
}
