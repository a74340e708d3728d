"""Attention over blocks: memory linear in the number of queries.

The rows of attention are independent: what one query gets does not depend on
the others, nor on other heads and examples. So any mechanism may run over
blocks of queries, each block recomputed in the backward pass; no mechanism
knows.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import block_loop, compilation
from keras_attention.base_layer import Tensor

#: How many bytes the scores of one block may take: a block that stays in the
#: processor's cache from one stage to the next is also the fastest.
BUDGET = 8 * 2**20

#: Queries in a block of products even beyond the budget: products of fewer take
#: longer, and so does adding up the gradients of keys and values.
FEWEST = 512

#: The batch that decides whether blocks are used, while it is unknown.
USUAL_BATCH = 32

#: How many times the budget its scores may then take before they are cut: a
#: loop over single examples, which is all that can be, takes longer than that.
UNCUT = 4

#: Several blocks are multiples of this, as vectors in the processor are.
GRAIN = 8

Function = Callable[[Any, Any], tuple[Tensor, ...]]


def over_queries(
    layer: keras.Layer,
    function: Function,
    rows: dict[str, Tensor],
    shared: dict[str, Tensor],
    block_size: int | None,
    numbers_per_query: Tensor | int,
    widths: tuple[int, ...],
    fewest: Any = GRAIN,
    forward_numbers: Tensor | int | None = None,
) -> Any:
    """`function(rows, shared)`, computed over blocks of queries.

    Args:
        layer: Whose variables `function` uses.
        function: Maps `rows` and `shared` to tensors `(..., Tq, width)` that
            are widened.
        rows: Tensors `(..., Tq, n)`, with one row per query.
        shared: Tensors `(..., m, n)` that all queries share.
        block_size: Queries in a block, of all examples and heads, or None for
            what `BUDGET` allows.
        numbers_per_query: How many numbers a query takes at the peak, per
            example; a tensor where lengths are unknown.
        widths: The last axis of each result.
        fewest: How many queries a block holds even beyond the budget.
        forward_numbers: How many numbers a query takes where no gradient is
            made; None is as many. If all fit, only the gradient has blocks.

    Returns:
        The results of `function`.
    """
    axes = list(ops.shape(rows["query"])[:-1])
    sizes = _sizes(axes, block_size, numbers_per_query, fewest)
    if sizes is None:
        return function(rows, shared)
    if forward_numbers is None:
        forward_numbers = numbers_per_query
    pure = compilation.stateless(layer, function)
    values = compilation.values_of(layer)
    return block_loop.over(
        lambda rows, shared, values: pure(values, rows, shared),
        rows,
        shared,
        values,
        axes,
        sizes,
        widths,
        "float64" if layer.compute_dtype == "float64" else "float32",
        is_forward_whole=_sizes(axes, block_size, forward_numbers) is None,
    )


def _sizes(
    axes: list[Any],
    block_size: int | None,
    numbers_per_query: Any,
    fewest: Any = GRAIN,
) -> list[Any] | None:
    """Of a block, along each axis; None where there is no need of blocks."""
    if block_size:
        is_one = isinstance(axes[-1], int) and axes[-1] <= block_size
        return None if is_one else [*axes[:-1], block_size]
    is_known = isinstance(axes[-1], int) and isinstance(numbers_per_query, int)
    if not is_known and not compilation.in_trainer():
        return None  # An export of unknown lengths stays free of loops.
    if is_known and _all_fit(axes, numbers_per_query):
        return None
    return _fitting(axes, numbers_per_query, fewest)


def _all_fit(axes: list[Any], numbers_per_query: int) -> bool:
    is_known = all(isinstance(size, int) for size in axes)
    numbers = numbers_per_query
    for size in axes:
        numbers *= size if isinstance(size, int) else USUAL_BATCH
    return numbers <= BUDGET // 4 * (1 if is_known else UNCUT)


def _fitting(
    axes: list[Any], numbers_per_query: Any, fewest: Any = GRAIN
) -> list[Any]:
    """From the last axis on, as many of each as fit the budget together."""
    room = BUDGET // 4 // _at_least_one(numbers_per_query)
    sizes: list[Any] = []
    for axis in reversed(axes):
        if sizes:
            size = _divisor(axis, _at_least_one(room))
        else:
            most = _largest(room // GRAIN * GRAIN, _largest(fewest, GRAIN))
            size = _even(axis, most)
        sizes.append(size)
        room = room // size
    return sizes[::-1]


def _even(queries: Any, most: Any) -> Any:
    """Up to `most` queries, in all blocks about the same."""
    count = _at_least_one((queries + most - 1) // most)
    even = (queries + count - 1) // count
    size = (even + GRAIN - 1) // GRAIN * GRAIN
    # One query at a time, as a decoder asks, is not padded to a grain.
    return _at_least_one(_smallest(size, queries))


def _divisor(axis: Any, most: Any) -> Any:
    """The largest divisor up to `most`: whole blocks need no padding.

    Of an unknown axis it is 1: in a compiled gradient, XLA would not know a
    size that the forward program has found, and cut with padding.
    """
    if not _are_known(axis, most):
        return 1
    sizes = range(1, max(min(axis, most), 1) + 1)
    return max(size for size in sizes if axis % size == 0)


def _at_least_one(size: Any) -> Any:
    return _largest(size, 1)


def _largest(a: Any, b: Any) -> Any:
    return max(a, b) if _are_known(a, b) else ops.maximum(a, b)


def _smallest(a: Any, b: Any) -> Any:
    return min(a, b) if _are_known(a, b) else ops.minimum(a, b)


def _are_known(a: Any, b: Any) -> bool:
    return isinstance(a, int) and isinstance(b, int)
