"""Limits: the matrix products of attention, with little or nothing else.

As XLA makes them, in float32, over as many heads at once as the package takes
and over blocks of queries, with the small factor transposed first and never the
table: the fastest of the forms tried. What attention adds (the exponentials,
their sums, the masks) is what a layer's time has above this.
"""

import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from benchmarks import programs, ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from keras_attention import products

#: Scores of all heads that are computed at once, and of one head's block, whose
#: queries are at least so many: the fastest of those tried.
MOST = 2**20
FEWEST = 512

#: The least has no softmax, so that its weights would not stay small.
LITTLE = 1e-9

Weigh = Callable[[Any], Any]


def multi_head(case: Case) -> Side:
    """Projections, query by key, weights by value; and what training adds.

    To each product of the forward pass training adds two: by its one factor,
    and by the other. But where a model is fitted, nothing asks for the gradient
    of the data.

    Args:
        case: Its size, and in which way it is called.
    """
    import tensorflow as tf

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return tf.constant(rng.normal(size=shape), "float32")

    x = normal(case.batch, case.steps, case.dim)
    weights = [normal(case.dim, case.dim) for _ in range(4)]
    training = case.way in ways.TRAINING
    function = _forward_and_backward if training else _forward
    compiled = tf.function(functools.partial(function, case), jit_compile=True)
    return Side(functools.partial(compiled, x, weights))


def multi_head_least(case: Case) -> Side:
    """The least of a layer whose memory is linear in the length, as a model.

    With one exponential of each score. Training has two passes, between which
    stands a loss: exponentials that all fit at once are kept, others are made
    in both.

    Args:
        case: Its size, and in which way it is called.
    """
    x = keras.Input((case.steps, case.dim))
    fit_at_once = _together(case) == case.batch * case.heads
    function = _kept if fit_at_once else _in_two_passes
    layer = programs.Program(
        functools.partial(function, case),
        [(case.dim, case.dim)] * 4,
        jit_compile=case.way in programs.ALONE,
    )
    model = keras.Model(x, layer(x))
    return Side(ways.side(model, case.way, case.batch).run)


def _forward(
    case: Case, x: Any, weights: list[Any], weigh: Weigh | None = None
) -> tuple[Any, Any]:
    """The context of all heads, and the output."""
    import tensorflow as tf

    *projections, W_O = weights

    def of_heads(given: list[Any]) -> Any:
        q, k, v = given

        def of_block(q: Any) -> Any:
            scores = tf.matmul(q, k, transpose_b=True)
            return (weigh(scores) if weigh else scores) @ v

        if _block(case) == case.steps:
            return of_block(q)
        return _whole(tf.map_fn(of_block, _blocks(case, q)))

    heads = [_split(case, x @ W) for W in projections]
    context = _join(case, _over_groups(of_heads, 1, heads)[0])
    return context, context @ W_O


def _forward_and_backward(case: Case, x: Any, weights: list[Any]) -> Any:
    """The products that the output and the gradients are made of."""

    def with_context(scores: Any, v: Any) -> list[Any]:
        return [scores @ v]

    function = functools.partial(_over_blocks, case, with_context, None)
    context, *slopes = _slopes(case, function, 4, x, x, weights)
    output = context @ weights[3]
    return output, _of_projections(case, x, context, slopes, weights)


def _kept(case: Case, tensors: list[Any], weights: list[Any]) -> Any:
    """The output, with a gradient that the exponentials are kept for."""
    import tensorflow as tf

    *projections, W_O = map(_little_trained, weights)
    q, k, v = (
        _split(case, products.by_matrix(tensors[0], W)) for W in projections
    )
    context = products.of_weights(tf.exp(products.of_pairs(q, k)), v)
    return products.by_matrix(_join(case, context), W_O)


def _little_trained(weight: Any) -> Any:
    import tensorflow as tf

    return tf.custom_gradient(lambda W: (W, lambda pull: LITTLE * pull))(weight)


def _in_two_passes(case: Case, tensors: list[Any], weights: list[Any]) -> Any:
    """The output, with a gradient that makes the scores again."""
    import tensorflow as tf

    x = tensors[0]

    @tf.custom_gradient
    def output_of(*weights: Any) -> Any:
        context, output = _forward(case, x, weights, tf.exp)

        def gradient(pull: Any) -> Any:
            function = functools.partial(_over_blocks, case, None, tf.exp)
            slopes = _slopes(case, function, 3, x, pull, weights)
            dW, _dx = _of_projections(case, x, context, slopes, weights)
            return [LITTLE * d for d in dW]

        return output, gradient

    return output_of(*weights)


def _slopes(
    case: Case,
    function: Callable[[list[Any]], list[Any]],
    count: int,
    x: Any,
    pull: Any,
    weights: list[Any],
) -> list[Any]:
    """`count` results of each head's `q`, `k`, `v` and pull, joined."""
    import tensorflow as tf

    *projections, W_O = weights
    heads = [
        *(_split(case, x @ W) for W in projections),
        _split(case, tf.matmul(pull, W_O, transpose_b=True)),
    ]
    results = _over_groups(function, count, heads)
    return [_join(case, result) for result in results]


def _of_projections(
    case: Case, x: Any, context: Any, slopes: list[Any], weights: list[Any]
) -> tuple[list[Any], Any]:
    """The gradients of the weights, and that of `x` if it is asked for."""
    import tensorflow as tf

    pairs = [*((x, slope) for slope in slopes), (context, x)]
    dW = [products.first_transposed(*map(_rows, pair)) for pair in pairs]
    if case.way != "gradient":
        return dW, None
    return dW, sum(
        tf.matmul(slope, W, transpose_b=True)
        for slope, W in zip(slopes, weights[:3], strict=True)
    )


def _over_blocks(
    case: Case,
    more: Callable[[Any, Any], list[Any]] | None,
    weigh: Weigh | None,
    given: list[Any],
) -> list[Any]:
    """What `more` makes of the scores, and the gradients of `q`, `k`, `v`."""
    import tensorflow as tf

    q, k, v, pull = given

    def of_block(dk_and_dv: Any, block: Any) -> Any:
        dk, dv, *_ = dk_and_dv
        q, pull = block
        scores = tf.matmul(q, k, transpose_b=True)
        scores = weigh(scores) if weigh else scores
        d_scores = tf.matmul(pull, v, transpose_b=True)
        return (
            dk + products.written_down(_turned(q)) @ d_scores,
            dv + products.written_down(_turned(pull)) @ scores,
            *(more(scores, v) if more else []),
            d_scores @ k,
        )

    zeros = (tf.zeros_like(_turned(k)), tf.zeros_like(_turned(v)))
    if _block(case) == case.steps:
        dk, dv, *results = of_block(zeros, (q, pull))
        return [*results, _turned(dk), _turned(dv)]
    blocks = _blocks(case, q), _blocks(case, pull)
    of_query = [blocks[0][0]] * (2 if more else 1)
    dk, dv, *results = tf.scan(of_block, blocks, (*zeros, *of_query))
    return [*map(_whole, results), _turned(dk[-1]), _turned(dv[-1])]


def _over_groups(
    function: Callable[[list[Any]], Any], count: int, heads: list[Any]
) -> list[Any]:
    """`count` results of tensors `(groups, heads, T, size)`, group by group.

    A single head has no axis, so that XLA writes over its products.
    """
    import tensorflow as tf

    is_single = heads[0].shape[1] == 1

    def of_group(heads: list[Any]) -> list[Any]:
        results = function([x[0] for x in heads] if is_single else heads)
        results = results if isinstance(results, list) else [results]
        return [x[None] for x in results] if is_single else results

    if heads[0].shape[0] == 1:
        return [x[None] for x in of_group([x[0] for x in heads])]
    signature = [heads[0].dtype] * count
    results: list[Any] = tf.map_fn(
        of_group, heads, fn_output_signature=signature
    )
    return results


def _split(case: Case, x: Any) -> Any:
    """`(batch, T, heads size) -> (groups, heads, T, size)`."""
    import tensorflow as tf

    size = case.dim // case.heads
    x = tf.reshape(x, (case.batch, case.steps, case.heads, size))
    x = tf.transpose(x, (0, 2, 1, 3))
    return tf.reshape(x, (-1, _together(case), case.steps, size))


def _join(case: Case, x: Any) -> Any:
    """The inverse of `_split`."""
    import tensorflow as tf

    size = case.dim // case.heads
    x = tf.reshape(x, (case.batch, case.heads, case.steps, size))
    x = tf.transpose(x, (0, 2, 1, 3))
    return tf.reshape(x, (case.batch, case.steps, case.dim))


def _together(case: Case) -> int:
    """How many heads are computed at once, of all examples."""
    return min(case.heads * case.batch, max(1, MOST // case.steps**2))


def _block(case: Case) -> int:
    """How many queries are computed at once."""
    return min(case.steps, max(FEWEST, MOST // case.steps))


def _blocks(case: Case, x: Any) -> Any:
    """`(T, size) -> (blocks, block, size)`, of the only head of its group."""
    import tensorflow as tf

    return tf.reshape(x, (-1, _block(case), x.shape[-1]))


def _whole(blocks: Any) -> Any:
    """The inverse of `_blocks`."""
    import tensorflow as tf

    return tf.reshape(blocks, (-1, blocks.shape[-1]))


def _rows(x: Any) -> Any:
    import tensorflow as tf

    return tf.reshape(x, (-1, x.shape[-1]))


def _turned(x: Any) -> Any:
    import tensorflow as tf

    return tf.linalg.matrix_transpose(x)
