"""Attention over blocks of queries: memory linear in the number of queries.

The rows of attention are independent: what one query gets does not depend on
the others. So any mechanism may run over blocks of queries, each block
recomputed in the backward pass; no mechanism knows.
"""

import math
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import block_loop, compilation
from keras_attention.base_layer import Tensor

#: How many bytes the scores of one block may take.
BUDGET = 16 * 2**20

#: The batch size that is reckoned with while it is unknown.
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
    queries = ops.shape(rows["query"])[-2]
    # An export of unknown lengths stays free of loops.
    if block_size is None and (
        isinstance(queries, int) or compilation.in_trainer()
    ):
        block_size = _fitting(ops.shape(rows["query"])[:-2], numbers_per_query)
    if block_size is None or _all_fit(queries, block_size):
        return function(rows, shared)
    size = (
        block_size
        if isinstance(block_size, int)
        else ops.minimum(block_size, ops.maximum(queries, 1))
    )
    rows = {name: _padded(x, queries, size) for name, x in rows.items()}
    pure = compilation.stateless(layer, function)
    fixed = (compilation.values_of(layer), shared)

    def of_block(rows: Any, fixed: Any) -> Tensor:
        values, shared = fixed
        return pure(values, rows, shared)

    looped = block_loop.over(of_block, rows, fixed, size, like=shared["value"])
    return looped[..., :queries, :]


def _fitting(leading: Any, numbers_per_query: Tensor | int) -> Any:
    """The largest block within the budget; None to take all in one."""
    batch = math.prod(
        size if isinstance(size, int) else USUAL_BATCH for size in leading
    )
    budget = BUDGET // (4 * max(batch, 1))
    if isinstance(numbers_per_query, int):
        size = budget // max(numbers_per_query, 1)
        return max(size // GRAIN * GRAIN, GRAIN)
    if compilation.in_trainer():
        size = budget // ops.maximum(numbers_per_query, 1)
        return ops.maximum(size // GRAIN * GRAIN, GRAIN)
    return None


def _all_fit(queries: Tensor | int, block_size: Tensor | int) -> bool:
    known = isinstance(queries, int) and isinstance(block_size, int)
    return known and queries <= block_size


def _padded(x: Tensor, queries: Any, size: Any) -> Tensor:
    """`(..., Tq, n)` with zeros up to a multiple of `size`."""
    rest = (queries + size - 1) // size * size - queries
    padding = [[0, 0]] * (len(x.shape) - 2) + [[0, rest], [0, 0]]
    return ops.pad(x, padding)
