"""Attention over blocks of queries: memory linear in the number of queries.

The rows of attention are independent: what one query gets does not depend on
the others. So any mechanism may run over blocks of queries, each block
recomputed in the backward pass; no mechanism knows.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import block_loop, compilation
from keras_attention.base_layer import Tensor

#: How many bytes the scores of one block may take.
BUDGET = 16 * 2**20

#: The batch that decides whether blocks are used, while it is unknown.
USUAL_BATCH = 32

#: Blocks are multiples of this, as vectors in the processor are.
GRAIN = 8

Function = Callable[[Any, Any], Tensor]


def over_queries(
    layer: keras.Layer,
    function: Function,
    rows: dict[str, Tensor],
    shared: dict[str, Tensor],
    block_size: int | None,
    numbers_per_query: Tensor | int,
) -> Tensor:
    """`function(rows, shared)`, computed over blocks of queries.

    Args:
        layer: Whose variables `function` uses.
        function: Maps `rows` and `shared` to `(..., Tq, dim)`.
        rows: Tensors `(..., Tq, n)`, with one row per query.
        shared: Tensors that every block needs whole.
        block_size: Queries in a block, or None for what `BUDGET` allows.
        numbers_per_query: How many numbers a query takes at the peak, per
            example; a tensor where lengths are unknown.

    Returns:
        `(..., Tq, dim)`.
    """
    *leading, queries, _dim = ops.shape(rows["query"])
    size = block_size or _usual_size(leading, queries, numbers_per_query)
    if size is None or _all_fit(queries, size):
        return function(rows, shared)
    if block_size is None and compilation.in_trainer():
        size = _fitting(leading, numbers_per_query)  # The batch at hand.
    if not isinstance(size, int):
        size = ops.minimum(size, ops.maximum(queries, 1))
    rows = {name: _padded(x, queries, size) for name, x in rows.items()}
    pure = compilation.stateless(layer, function)
    fixed = (compilation.values_of(layer), shared)

    def of_block(rows: Any, fixed: Any) -> Tensor:
        values, shared = fixed
        return pure(values, rows, shared)

    looped = block_loop.over(of_block, rows, fixed, size, like=shared["value"])
    return looped[..., :queries, :]


def _usual_size(leading: Any, queries: Any, numbers_per_query: Any) -> Any:
    """The block size by which it is decided whether to use blocks at all."""
    is_known = isinstance(queries, int) and isinstance(numbers_per_query, int)
    if not is_known and not compilation.in_trainer():
        return None  # An export of unknown lengths stays free of loops.
    usual = [n if isinstance(n, int) else USUAL_BATCH for n in leading]
    return _fitting(usual, numbers_per_query)


def _fitting(leading: Any, numbers_per_query: Any) -> Any:
    """The largest block within the budget: an integer, or a tensor."""
    numbers = numbers_per_query
    for size in leading:
        numbers = numbers * size
    if isinstance(numbers, int):
        size = BUDGET // 4 // max(numbers, 1)
        return max(size // GRAIN * GRAIN, GRAIN)
    size = BUDGET // 4 // ops.maximum(numbers, 1)
    return ops.maximum(size // GRAIN * GRAIN, GRAIN)


def _all_fit(queries: Tensor | int, block_size: Tensor | int) -> bool:
    known = isinstance(queries, int) and isinstance(block_size, int)
    return known and queries <= block_size


def _padded(x: Tensor, queries: Any, size: Any) -> Tensor:
    """`(..., Tq, n)` with zeros up to a multiple of `size`."""
    rest = (queries + size - 1) // size * size - queries
    padding = [[0, 0]] * (len(x.shape) - 2) + [[0, rest], [0, 0]]
    return ops.pad(x, padding)
