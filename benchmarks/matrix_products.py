"""The limit: the matrix products of attention, and nothing else.

As XLA makes them, in float32, head by head over blocks of queries, with the
small factor transposed and never the table: the fastest of the forms tried.
What attention adds (the exponentials, their sums, the masks) is what a layer's
time has above this. With one exponential of each score, it is the least that
XLA makes of a softmax. Training takes more than that: between the passes stands
a loss, so that a program whose memory is linear in the length makes the scores
and their exponentials twice.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side

#: Queries in a block: the fastest of 128, 256, 512 and 1,024 at 2,048 steps.
BLOCK = 512


Weigh = Callable[[Any], Any]


def multi_head(case: Case) -> Side:
    """Projections, query by key, weights by value; and what training adds.

    To each product of the forward pass training adds two: by its one factor,
    and by the other. But where a model is fitted, nothing asks for the gradient
    of the data.

    Args:
        case: Its size, and in which way it is called.
    """
    return _compiled(case, lambda scores: scores)


def multi_head_exponentials(case: Case) -> Side:
    """The same with one exponential of each score, its fewest."""
    import tensorflow as tf

    return _compiled(case, tf.exp)


def multi_head_recomputed(case: Case) -> Side:
    """Of training: the scores and their exponentials twice, in two passes."""
    import tensorflow as tf

    return _run(case, _forward_then_backward, tf.exp)


def _compiled(case: Case, weigh: Weigh) -> Side:
    training = case.way in ways.TRAINING
    return _run(case, _forward_and_backward if training else _forward, weigh)


def _run(case: Case, function: Callable[..., Any], weigh: Weigh) -> Side:
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
    compiled = tf.function(
        functools.partial(function, case, weigh), jit_compile=True
    )
    return Side(functools.partial(compiled, x, weights))


def _forward(case: Case, weigh: Weigh, x: Any, weights: list[Any]) -> Any:
    import tensorflow as tf

    W_Q, W_K, W_V, W_O = weights

    def of_head(of_one: list[Any]) -> Any:
        q, k, v = of_one

        def of_block(q: Any) -> Any:
            return weigh(tf.matmul(q, k, transpose_b=True)) @ v

        return _whole(tf.map_fn(of_block, _blocks(q)))

    context = tf.map_fn(
        of_head,
        [_split(x @ W, case.heads) for W in (W_Q, W_K, W_V)],
        fn_output_signature=x.dtype,
    )
    context = _join(context, case.heads)
    return context, context @ W_O


def _forward_and_backward(
    case: Case, weigh: Weigh, x: Any, weights: list[Any]
) -> Any:
    """The products that the output and the gradients are made of."""
    function = functools.partial(_of_head_backward, weigh)
    context, *slopes = _over_heads(function, 4, case.heads, x, x, weights)
    return (
        context @ weights[3],
        _of_projections(case, x, context, slopes, weights),
    )


def _forward_then_backward(
    case: Case, weigh: Weigh, x: Any, weights: list[Any]
) -> Any:
    """The same, the backward pass after the forward one."""
    context, output = _forward(case, weigh, x, weights)
    function = functools.partial(_slopes_of_head, weigh)
    slopes = _over_heads(function, 3, case.heads, x, output, weights)
    return output, _of_projections(case, x, context, slopes, weights)


def _over_heads(
    function: Callable[[list[Any]], list[Any]],
    count: int,
    heads: int,
    x: Any,
    pull: Any,
    weights: list[Any],
) -> list[Any]:
    """`count` results of each head's `q`, `k`, `v` and pull, joined."""
    import tensorflow as tf

    *projections, W_O = weights
    of_heads = [
        *(_split(x @ W, heads) for W in projections),
        _split(tf.matmul(pull, W_O, transpose_b=True), heads),
    ]
    results = tf.map_fn(
        function, of_heads, fn_output_signature=[x.dtype] * count
    )
    return [_join(result, heads) for result in results]


def _of_projections(
    case: Case, x: Any, context: Any, slopes: list[Any], weights: list[Any]
) -> Any:
    import tensorflow as tf

    dW = [tf.einsum("btd,bte->de", x, slope) for slope in slopes]
    dW.append(tf.einsum("btd,bte->de", context, x))
    if case.way != "gradient":
        return dW
    dx = sum(
        tf.matmul(slope, W, transpose_b=True)
        for slope, W in zip(slopes, weights[:3], strict=True)
    )
    return dx, dW


def _of_head_backward(weigh: Weigh, of_one: list[Any]) -> list[Any]:
    """Two products forward and four backward, each `(T, size)`."""
    v = of_one[2]
    return _over_blocks(weigh, of_one, lambda scores: [scores @ v])


def _slopes_of_head(weigh: Weigh, of_one: list[Any]) -> list[Any]:
    """The scores again, and four products backward, each `(T, size)`."""
    return _over_blocks(weigh, of_one, lambda _scores: [])


def _over_blocks(
    weigh: Weigh, of_one: list[Any], more: Callable[[Any], list[Any]]
) -> list[Any]:
    """What `more` makes of the scores, and the gradients of `q`, `k`, `v`."""
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
            *more(scores),
            d_scores @ k,
        )

    blocks = _blocks(q), _blocks(pull)
    zeros = tf.zeros_like(tf.transpose(k)), tf.zeros_like(tf.transpose(v))
    of_query = [blocks[0][0]] * (len(more(q[:1] @ tf.transpose(k))) + 1)
    dk, dv, *results = tf.scan(of_block, blocks, (*zeros, *of_query))
    return [*map(_whole, results), tf.transpose(dk[-1]), tf.transpose(dv[-1])]


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
