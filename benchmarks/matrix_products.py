"""The limit: the matrix products of attention, and nothing else.

As XLA makes them, in float32, head by head over blocks of queries, with the
small factor transposed and never the table: the fastest of the forms tried.
What attention adds (the exponentials, their sums, the masks) is what a layer's
time has above this. With one exponential of each score, it is the least that
XLA makes of a softmax.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.sides import Side

#: Queries in a block: the fastest of 128, 256, 512 and 1,024 at 2,048 steps.
BLOCK = 512


Weigh = Callable[[Any], Any]


def multi_head(case: Case, training: bool) -> Side:
    """Projections, query by key, weights by value; and what training adds.

    Args:
        case: Its size.
        training: Whether to make the two products of the backward pass for
            each of the forward pass, too.
    """
    return _compiled(case, training, lambda scores: scores)


def multi_head_exponentials(case: Case, training: bool) -> Side:
    """The same with one exponential of each score, its fewest."""
    import tensorflow as tf

    return _compiled(case, training, tf.exp)


def _compiled(case: Case, training: bool, weigh: Weigh) -> Side:
    import tensorflow as tf

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.normal(size=shape)

    x = tf.constant(normal(case.batch, case.steps, case.dim), "float32")
    # So small that no exponential overflows.
    weights = [
        tf.constant(normal(case.dim, case.dim) / case.dim, "float32")
        for _ in range(4)
    ]
    function = _forward_and_backward if training else _forward
    compiled = tf.function(
        functools.partial(function, case.heads, weigh), jit_compile=True
    )
    return Side(functools.partial(compiled, x, weights))


def _forward(heads: int, weigh: Weigh, x: Any, weights: list[Any]) -> Any:
    import tensorflow as tf

    W_Q, W_K, W_V, W_O = weights

    def of_head(of_one: list[Any]) -> Any:
        q, k, v = of_one

        def of_block(q: Any) -> Any:
            return weigh(tf.matmul(q, k, transpose_b=True)) @ v

        return _whole(tf.map_fn(of_block, _blocks(q)))

    context = tf.map_fn(
        of_head,
        [_split(x @ W, heads) for W in (W_Q, W_K, W_V)],
        fn_output_signature=x.dtype,
    )
    return _join(context, heads) @ W_O


def _forward_and_backward(
    heads: int, weigh: Weigh, x: Any, weights: list[Any]
) -> Any:
    """The products that gradients of `x` and of the weights are made of."""
    import tensorflow as tf

    W_Q, W_K, W_V, W_O = weights
    pull = _split(tf.matmul(x, W_O, transpose_b=True), heads)
    of_heads = [_split(x @ W, heads) for W in (W_Q, W_K, W_V)]
    results = tf.map_fn(
        functools.partial(_of_head_backward, weigh),
        [*of_heads, pull],
        fn_output_signature=[x.dtype] * 4,
    )
    context, *gradients = [_join(result, heads) for result in results]
    dx = sum(
        tf.matmul(d, W, transpose_b=True)
        for d, W in zip(gradients, weights[:3], strict=True)
    )
    dW = [tf.einsum("btd,bte->de", x, d) for d in gradients]
    return context @ W_O, dx, dW, tf.einsum("btd,bte->de", context, x)


def _of_head_backward(weigh: Weigh, of_one: list[Any]) -> list[Any]:
    """Two products forward and four backward, each `(T, size)`."""
    import tensorflow as tf

    q, k, v, pull = of_one

    def of_block(dk_and_dv: Any, block: Any) -> Any:
        dk, dv, *_ = dk_and_dv
        q, pull = block
        scores = weigh(tf.matmul(q, k, transpose_b=True))
        d_scores = tf.matmul(pull, v, transpose_b=True)
        return (
            dk + tf.matmul(q, d_scores, transpose_a=True),
            dv + tf.matmul(pull, scores, transpose_a=True),
            scores @ v,
            d_scores @ k,
        )

    blocks = _blocks(q), _blocks(pull)
    zeros = tf.zeros_like(tf.transpose(k)), tf.zeros_like(tf.transpose(v))
    dk, dv, context, dq = tf.scan(
        of_block, blocks, (*zeros, blocks[0][0], blocks[0][0])
    )
    return [
        _whole(context),
        _whole(dq),
        tf.transpose(dk[-1]),
        tf.transpose(dv[-1]),
    ]


def _split(x: Any, heads: int) -> Any:
    """`(batch, T, heads size) -> (batch heads, T, size)`."""
    import tensorflow as tf

    batch, steps, dim = x.shape
    x = tf.reshape(x, (batch, steps, heads, dim // heads))
    x = tf.transpose(x, (0, 2, 1, 3))
    return tf.reshape(x, (batch * heads, steps, dim // heads))


def _join(x: Any, heads: int) -> Any:
    """The inverse of `_split`."""
    import tensorflow as tf

    items, steps, size = x.shape
    x = tf.reshape(x, (items // heads, heads, steps, size))
    x = tf.transpose(x, (0, 2, 1, 3))
    return tf.reshape(x, (items // heads, steps, heads * size))


def _blocks(x: Any) -> Any:
    """`(T, size) -> (blocks, block, size)`."""
    import tensorflow as tf

    steps, size = x.shape
    block = min(BLOCK, steps)
    return tf.reshape(x, (steps // block, block, size))


def _whole(blocks: Any) -> Any:
    """The inverse of `_blocks`."""
    import tensorflow as tf

    count, block, size = blocks.shape
    return tf.reshape(blocks, (count * block, size))
