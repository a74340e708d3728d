"""The limit of a decoder: its matrix products, step by step, and nothing else.

Of the LSTM, the query, the layer behind the attention and the output, as XLA
makes them, in float32. Each step takes what the one before gave, so that none
can be left out or made together with others. What a decoder adds (gates,
scores, softmax, the choice of tokens) is what its time has above this. With one
tanh of each query, key and unit, and one softmax of the logits, it is the least
that training takes.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.sides import Side
from keras_attention import products

Weights = dict[str, Any]
Read = Callable[[Any, Any], Any]


def training(rows: int, source: int, dim: int, length: int, n: int) -> Side:
    """Forward and backward: outputs of all steps at once, steps by turns.

    Args:
        rows: Examples.
        source: Steps of the memory.
        dim: Of all vectors.
        length: Steps of the target.
        n: Tokens of the vocabulary.
    """
    return _training(rows, source, dim, length, n, _zero, _same)


def training_activations(
    rows: int, source: int, dim: int, length: int, n: int
) -> Side:
    """The same with one tanh of each pair and unit, and of logits a softmax."""
    import tensorflow as tf

    return _training(rows, source, dim, length, n, _hidden, tf.nn.softmax)


def _training(
    rows: int,
    source: int,
    dim: int,
    length: int,
    n: int,
    read: Read,
    slope: Callable[[Any], Any],
) -> Side:
    weights, normal = _weights(dim, n)
    memory = normal(rows * source, dim)
    function = functools.partial(_trained, read, slope)
    return _compiled(function, normal(length, rows, dim), memory, weights)


def _zero(query: Any, keys: Any) -> float:
    return 0.0


def _same(logits: Any) -> Any:
    return logits


def _hidden(query: Any, keys: Any) -> Any:
    """`(rows, dim), (rows * source, dim) -> (rows, dim)`."""
    import tensorflow as tf

    keys = tf.reshape(keys, (query.shape[0], -1, query.shape[1]))
    return tf.reduce_sum(tf.tanh(query[:, None] + keys), axis=1)


def generating(rows: int, source: int, dim: int, length: int, n: int) -> Side:
    """Forward, each step with the output of the one before."""
    weights, normal = _weights(dim, n)
    memory = normal(rows * source, dim)
    return _compiled(
        functools.partial(_generated, length),
        normal(rows, dim),
        memory,
        weights,
    )


def _compiled(function: Any, *given: Any) -> Side:
    import tensorflow as tf

    compiled = tf.function(function, jit_compile=True)
    return Side(functools.partial(compiled, *given))


def _weights(dim: int, n: int) -> tuple[Weights, Any]:
    import tensorflow as tf

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        scale = shape[0] ** -0.5
        return tf.constant(rng.normal(scale=scale, size=shape), "float32")

    shapes = {
        "memory": (dim, dim),
        "cell": (3 * dim, 4 * dim),
        "query": (dim, dim),
        "attention": (2 * dim, dim),
        "output": (dim, n),
    }
    return {name: normal(*shape) for name, shape in shapes.items()}, normal


def _step(
    weights: Weights, h: Any, x: Any, read: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """What enters the cell, its gates, and the next `h`."""
    import tensorflow as tf

    entering = tf.concat([x, h, h], axis=-1)
    gates = entering @ weights["cell"]
    s = gates[:, : h.shape[-1]]
    query = s @ weights["query"]
    both = tf.concat([s, query + read(query)], axis=-1)
    return entering, gates, both @ weights["attention"]


def _generated(length: int, x: Any, memory: Any, weights: Weights) -> Any:
    import tensorflow as tf

    def step(h: Any, _: Any) -> Any:
        *_, h = _step(weights, h, x, lambda _query: 0.0)
        logits = h @ weights["output"]
        return h + tf.reduce_max(logits, axis=-1, keepdims=True)

    return memory @ weights["memory"], tf.scan(step, tf.range(length), x)[-1]


def _trained(
    read: Read,
    slope: Callable[[Any], Any],
    x: Any,
    memory: Any,
    weights: Weights,
) -> Any:
    import tensorflow as tf

    keys = memory @ weights["memory"]

    def forward(before: Any, x: Any) -> Any:
        return _step(weights, before[-1], x, lambda query: read(query, keys))

    zeros = (tf.concat([x[0]] * 3, -1), tf.concat([x[0]] * 4, -1), x[0])
    entering, gates, h = tf.scan(forward, x, zeros)
    logits = slope(h @ weights["output"])
    pull = tf.matmul(logits, weights["output"], transpose_b=True)

    def backward(before: Any, pull: Any) -> Any:
        d_both = tf.matmul(
            pull + before[0], weights["attention"], transpose_b=True
        )
        s, q = tf.split(d_both, 2, axis=-1)
        d_s = s + tf.matmul(q, weights["query"], transpose_b=True)
        d_gates = tf.concat([d_s] * 4, axis=-1)
        d_entering = tf.matmul(d_gates, weights["cell"], transpose_b=True)
        return d_entering[:, : d_s.shape[-1]], d_gates, d_both

    zeros = (x[0], zeros[1], tf.concat([x[0]] * 2, -1))
    _, d_gates, d_both = tf.scan(backward, pull, zeros, reverse=True)
    s, q = tf.split(d_both, 2, axis=-1)
    return (
        keys,
        tf.matmul(memory, weights["memory"], transpose_b=True),
        _of_weight(memory, memory),
        _of_weight(h, logits),
        _of_weight(entering, d_gates),
        _of_weight(tf.concat([s, q], -1), h),
        _of_weight(s, q),
    )


def _of_weight(x: Any, pull: Any) -> Any:
    """The gradient of a weight: one product over all rows."""
    import tensorflow as tf

    x, pull = (tf.reshape(y, (-1, y.shape[-1])) for y in (x, pull))
    return products.first_transposed(x, pull)
