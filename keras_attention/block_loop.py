"""One function over blocks of its inputs, recomputed in the backward pass.

On TensorFlow the gradient is written out as a second loop; on JAX and PyTorch
`keras.remat` does.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.block_grid import Grid, Places, Size
from keras_attention.precision import widened
from keras_attention.written_gradients import (
    copied,
    gradient_of,
    is_real,
    loop,
    merged,
)

Function = Callable[[Any, Any, Any], tuple[Tensor, ...]]
Blocks = Callable[[list[Tensor]], Sequence[Tensor]]
Slopes = Callable[[list[Tensor], list[Tensor]], list[Tensor]]


def over(
    function: Function,
    rows: Any,
    shared: Any,
    whole: Any,
    axes: list[Size],
    sizes: list[Size],
    widths: tuple[int, ...],
    dtype: str,
    is_forward_whole: bool,
) -> list[Tensor]:
    """`function(rows, shared, whole)`, one block at a time.

    Args:
        function: Captures no tensor.
        rows: Tensors `(..., n, dim)`, cut along the leading axes and the rows.
        shared: Tensors `(..., m, dim)`, cut along the leading axes. In both,
            leading axes may be missing or 1.
        whole: Tensors that every block needs whole.
        axes: The sizes of the leading axes, and `n`.
        sizes: The size of a block along each of them.
        widths: Of the results.
        dtype: Of the results.
        is_forward_whole: Whether TensorFlow makes only gradients in blocks.

    Returns:
        For each width, `(..., n, width)`.
    """
    grid = Grid(axes, sizes)
    structure = (rows, shared, whole)
    places: list[Places] = [
        *(grid.places(x, True) for x in keras.tree.flatten(rows)),
        *(grid.places(x, False) for x in keras.tree.flatten(shared)),
        *(_uncut(x) for x in keras.tree.flatten(whole)),
    ]

    def of_block(tensors: list[Tensor]) -> tuple[Tensor, ...]:
        return function(*keras.tree.pack_sequence_as(structure, tensors))

    tensors = [
        grid.padded(x, place)
        for x, place in zip(keras.tree.flatten(structure), places, strict=True)
    ]
    if keras.backend.backend() != "tensorflow":
        results = _mapped(of_block, grid, tensors, places)
    else:
        in_blocks = functools.partial(_forward, widths=widths, dtype=dtype)
        forward = _whole if is_forward_whole else in_blocks
        results = _looped(of_block, grid, tensors, places, forward)
    return [grid.cropped(result) for result in results]


def _looped(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    forward: Callable[..., list[Tensor]],
) -> Any:
    @ops.custom_gradient
    def looped(*real: Tensor) -> tuple[list[Tensor], Callable[..., Any]]:
        def gradient(*upstream: Tensor) -> Any:
            given = merged(tensors, real)
            return _slopes(function, grid, given, places, list(upstream))

        # Else an eager tape keeps what the blocks compute in between.
        fixed = [ops.stop_gradient(x) for x in real]
        given = merged(tensors, fixed)
        return forward(function, grid, given, places), gradient

    return looped(*filter(is_real, tensors))


def _whole(
    function: Blocks, _grid: Grid, tensors: list[Tensor], _places: list[Places]
) -> list[Tensor]:
    """The results, of all blocks at once."""
    return list(function(tensors))


def _forward(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    widths: tuple[int, ...],
    dtype: str,
) -> list[Tensor]:
    """The results: in a loop over examples and heads, one over their rows.

    So what the rows of a group share is cut once.
    """

    def of_group(tensors: list[Tensor]) -> list[Tensor]:
        rows = grid.rows()
        return _forward_once(function, rows, tensors, places, widths, dtype)

    groups = grid.groups()
    return _forward_once(of_group, groups, tensors, places, widths, dtype)


def _forward_once(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    widths: tuple[int, ...],
    dtype: str,
) -> list[Tensor]:
    every = _every_axis(grid)

    def step(number: Tensor, results: list[Tensor]) -> tuple[Any, ...]:
        starts = grid.starts(number)
        blocks = function(_cut(grid, tensors, places, starts))
        return number + 1, [
            grid.put(result, every, starts, block)
            for result, block in zip(results, blocks, strict=True)
        ]

    shape = grid.padded_axes
    zeros = [ops.zeros((*shape, width), dtype) for width in widths]
    results: list[Tensor] = loop(step, grid.steps, zeros)
    return results


def _slopes(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    upstream: list[Tensor],
) -> Any:
    """`_gradient`, with a gradient of its own: that of all blocks at once."""
    count = sum(map(is_real, tensors))
    tensors = copied(tensors)

    @ops.custom_gradient
    def slopes(*given: Tensor) -> tuple[list[Tensor], Callable[..., Any]]:
        def first(given: list[Tensor]) -> list[Tensor]:
            whole = merged(tensors, given[:count])
            return _slopes_of(function, whole, given[count:])

        def gradient(*wanted: Tensor) -> list[Tensor]:
            return gradient_of(first, list(given), list(wanted))

        fixed = [ops.stop_gradient(x) for x in given]
        whole = merged(tensors, fixed[:count])
        return _gradient(function, grid, whole, places, fixed[count:]), gradient

    return slopes(*filter(is_real, tensors), *copied(upstream))


def _slopes_of(
    function: Blocks, tensors: list[Tensor], upstream: list[Tensor]
) -> list[Tensor]:
    """The gradients of the real ones among `tensors`."""
    return gradient_of(
        lambda real: function(merged(tensors, real)),
        list(filter(is_real, tensors)),
        upstream,
    )


def _gradient(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    upstream: list[Tensor],
) -> list[Tensor]:
    """The gradients of the real ones among `tensors`, looped as `_forward`."""
    of_block = functools.partial(_slopes_of, function)

    def of_group(tensors: list[Tensor], upstream: list[Tensor]) -> list[Tensor]:
        rows = grid.rows()
        return _gradient_once(of_block, rows, tensors, places, upstream)

    groups = grid.groups()
    totals = _gradient_once(of_group, groups, tensors, places, upstream)
    return [
        ops.cast(total, x.dtype)
        for total, x in zip(totals, filter(is_real, tensors), strict=True)
    ]


def _gradient_once(
    slopes: Slopes,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    upstream: list[Tensor],
) -> list[Tensor]:
    """`slopes` of each block and its upstream, added up in float32 at least."""
    every = [_every_axis(grid)] * len(upstream)
    sources = list(filter(is_real, tensors))
    own = [
        place for place, x in zip(places, tensors, strict=True) if is_real(x)
    ]

    def step(number: Tensor, totals: list[Tensor]) -> tuple[Any, ...]:
        starts = grid.starts(number)
        given = _cut(grid, tensors, places, starts)
        new = slopes(given, _cut(grid, upstream, every, starts))
        sums = [
            grid.cut(total, place, starts) + widened(x)
            for total, place, x in zip(totals, own, new, strict=True)
        ]
        return number + 1, [
            grid.put(total, place, starts, x)
            for total, place, x in zip(totals, own, sums, strict=True)
        ]

    zeros = [ops.zeros_like(widened(x)) for x in sources]
    totals: list[Tensor] = loop(step, grid.steps, zeros)
    return totals


def _mapped(
    function: Blocks,
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
) -> list[Tensor]:
    """By the backend's own loop and recomputation."""

    def of_step(number: Tensor) -> tuple[Tensor, ...]:
        blocks = _cut(grid, tensors, places, grid.starts(number))
        remat = keras.remat(lambda *given: function(list(given)))
        results: tuple[Tensor, ...] = remat(*blocks)
        return results

    results = ops.map(of_step, ops.arange(grid.steps, dtype="int32"))
    return [_joined(grid, result) for result in results]


def _joined(grid: Grid, blocks: Tensor) -> Tensor:
    """`(steps, *sizes, width)` to `(*padded axes, width)`."""
    rank = len(grid.sizes)
    blocks = ops.reshape(blocks, (*grid.counts, *blocks.shape[1:]))
    order = [axis for i in range(rank) for axis in (i, rank + i)]
    blocks = ops.transpose(blocks, (*order, 2 * rank))
    return ops.reshape(blocks, (*grid.padded_axes, blocks.shape[-1]))


def _cut(
    grid: Grid,
    tensors: list[Tensor],
    places: list[Places],
    starts: list[Tensor],
) -> list[Tensor]:
    return [
        grid.cut(x, place, starts)
        for x, place in zip(tensors, places, strict=True)
    ]


def _every_axis(grid: Grid) -> Places:
    return [*range(len(grid.axes)), None]


def _uncut(x: Tensor) -> Places:
    return [None for _ in x.shape]
