"""The limit: the matrix products of attention, and nothing else.

As XLA makes them, in float32, over blocks of queries whose scores stay in the
cache, which is faster than whole tables of scores. What attention adds (the
exponentials, their sums, the masks) is what a layer's time has above this.
"""

import functools
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.sides import Side

#: Queries in a block: the fastest of 64, 128, 256 and 512 at 2,048 steps.
BLOCK = 256


def multi_head(case: Case, training: bool) -> Side:
    """Projections, query by key, weights by value; and what training adds.

    Args:
        case: Its size.
        training: Whether to make the two products of the backward pass for
            each of the forward pass, too.
    """
    import tensorflow as tf

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return tf.constant(rng.normal(size=shape), "float32")

    x = normal(case.batch, case.steps, case.dim)
    weights = [normal(case.dim, case.dim) for _ in range(4)]
    function = _forward_and_backward if training else _forward
    compiled = tf.function(
        functools.partial(function, case.heads), jit_compile=True
    )
    return Side(functools.partial(compiled, x, weights))


def _forward(heads: int, x: Any, weights: list[Any]) -> Any:
    import tensorflow as tf

    W_Q, W_K, W_V, W_O = weights
    q, k, v = (_split(x @ W, heads) for W in (W_Q, W_K, W_V))

    def of_block(q: Any) -> Any:
        return tf.matmul(q, k, transpose_b=True) @ v

    context = tf.map_fn(of_block, _blocks(q))
    return _join(_whole(context)) @ W_O


def _forward_and_backward(heads: int, x: Any, weights: list[Any]) -> Any:
    """The products that gradients of `x` and of the weights are made of."""
    import tensorflow as tf

    W_Q, W_K, W_V, W_O = weights
    q, k, v = (_split(x @ W, heads) for W in (W_Q, W_K, W_V))
    pull = _split(tf.matmul(x, W_O, transpose_b=True), heads)
    blocks = _blocks(q), _blocks(pull)
    count = len(blocks[0])
    context, dq = (tf.TensorArray("float32", count) for _ in range(2))

    def of_block(i: Any, context: Any, dq: Any, dk: Any, dv: Any) -> Any:
        q, pull = blocks[0][i], blocks[1][i]
        scores = tf.matmul(q, k, transpose_b=True)
        d_scores = tf.matmul(pull, v, transpose_b=True)
        return (
            i + 1,
            context.write(i, scores @ v),
            dq.write(i, d_scores @ k),
            dk + tf.matmul(d_scores, q, transpose_a=True),
            dv + tf.matmul(scores, pull, transpose_a=True),
        )

    _, context, dq, dk, dv = tf.while_loop(
        lambda i, *_: i < count,
        of_block,
        (0, context, dq, tf.zeros_like(k), tf.zeros_like(v)),
    )
    context = _join(_whole(context.stack()))
    gradients = [_join(_whole(dq.stack())), _join(dk), _join(dv)]
    dx = sum(
        tf.matmul(d, W, transpose_b=True)
        for d, W in zip(gradients, weights[:3], strict=True)
    )
    dW = [tf.einsum("btd,bte->de", x, d) for d in gradients]
    return context @ W_O, dx, dW, tf.einsum("btd,bte->de", context, x)


def _split(x: Any, heads: int) -> Any:
    """`(batch, T, heads size) -> (batch, heads, T, size)`."""
    import tensorflow as tf

    batch, steps, dim = x.shape
    x = tf.reshape(x, (batch, steps, heads, dim // heads))
    return tf.transpose(x, (0, 2, 1, 3))


def _join(x: Any) -> Any:
    """The inverse of `_split`."""
    import tensorflow as tf

    batch, heads, steps, size = x.shape
    x = tf.transpose(x, (0, 2, 1, 3))
    return tf.reshape(x, (batch, steps, heads * size))


def _blocks(x: Any) -> Any:
    """`(batch, heads, T, size) -> (blocks, batch, heads, block, size)`."""
    import tensorflow as tf

    batch, heads, steps, size = x.shape
    block = min(BLOCK, steps)
    x = tf.reshape(x, (batch, heads, steps // block, block, size))
    return tf.transpose(x, (2, 0, 1, 3, 4))


def _whole(blocks: Any) -> Any:
    """The inverse of `_blocks`."""
    import tensorflow as tf

    count, batch, heads, block, size = blocks.shape
    x = tf.transpose(blocks, (1, 2, 0, 3, 4))
    return tf.reshape(x, (batch, heads, count * block, size))
