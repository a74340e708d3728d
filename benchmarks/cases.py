"""What is compared: a layer of ours and its peer, on the same numbers."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

import keras_attention as ka

#: How close the two must be before anything is timed.
TOLERANCE = 1e-4

#: How a model is run; see `runners`.
MODES = ("eager", "predict", "jit")

Build = Callable[["Size"], tuple[keras.Model, keras.Model]]


@dataclasses.dataclass(frozen=True)
class Size:
    """The sizes of one run.

    Args:
        batch: Examples.
        steps: Queries, and as many keys.
        dim: Last axis of both, and units of the additive score.
        heads: Of multi-head attention; each has `dim / heads` numbers.
    """

    batch: int = 1
    steps: int = 128
    dim: int = 64
    heads: int = 4


def multi_head(size: Size) -> tuple[keras.Model, keras.Model]:
    """`MultiHeadAttention` and Keras's, with the same weights."""
    query, value = _inputs(size)
    head = size.dim // size.heads
    ours = ka.MultiHeadAttention(size.heads, head)
    theirs = keras.layers.MultiHeadAttention(size.heads, head)
    ours_out, theirs_out = ours(query, value), theirs(query, value)
    ours.set_weights(theirs.get_weights())
    return (
        keras.Model([query, value], ours_out),
        keras.Model([query, value], theirs_out),
    )


def bahdanau(size: Size) -> tuple[keras.Model, keras.Model]:
    """`BahdanauAttention`, and Keras's with a Dense for `W` and one for `U`."""
    query, value = _inputs(size)
    ours = ka.BahdanauAttention(units=size.dim)
    W = keras.layers.Dense(size.dim, use_bias=False)
    U = keras.layers.Dense(size.dim, use_bias=False)
    additive = keras.layers.AdditiveAttention()
    ours_out = ours(query, value)
    theirs_out = additive([W(query), value, U(value)])
    W.set_weights([ours.score.W])
    U.set_weights([ours.score.U])
    additive.set_weights([np.ravel(ours.score.v)])
    return (
        keras.Model([query, value], ours_out),
        keras.Model([query, value], theirs_out),
    )


CASES: dict[str, Build] = {"multi_head": multi_head, "bahdanau": bahdanau}


def inputs(size: Size) -> list[np.ndarray]:
    """The same query and value for every run."""
    rng = np.random.default_rng(0)
    shape = (size.batch, size.steps, size.dim)
    return [rng.normal(size=shape).astype("float32") for _ in range(2)]


def runners(
    name: str, mode: str, size: Size
) -> tuple[Callable[[], np.ndarray], Callable[[], np.ndarray]]:
    """Two functions that run a case to its end, ours and the peer's.

    Args:
        name: Of a case in `CASES`.
        mode: One of `MODES`: the model called eagerly, `predict` as Keras
            compiles it by default, or a `tf.function(jit_compile=True)`.
        size: Of the inputs.
    """
    return tuple(
        functools.partial(_run(model, mode), inputs(size))
        for model in CASES[name](size)
    )


def check_equal(
    ours: Callable[[], np.ndarray], theirs: Callable[[], np.ndarray]
) -> None:
    """Refuses to time two functions that do different things."""
    np.testing.assert_allclose(ours(), theirs(), rtol=TOLERANCE, atol=TOLERANCE)


def _inputs(size: Size) -> tuple[Any, Any]:
    shape = (size.steps, size.dim)
    return keras.Input(shape), keras.Input(shape)


def _run(model: keras.Model, mode: str) -> Callable[[Any], np.ndarray]:
    if mode == "predict":
        return functools.partial(model.predict, verbose=0)
    if mode == "eager":
        return lambda x: model(x).numpy()
    import tensorflow as tf

    compiled = tf.function(model, jit_compile=True)
    return lambda x: compiled(x).numpy()
