"""How tensors are cut into blocks: along leading axes, and along rows."""

import math
from typing import Any

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.shapes import known

Size = Any  # An integer, or a tensor where it is not known.
Places = list[int | None]  # Which axis of the grid cuts each axis of a tensor.


class Grid:
    """A grid of equal blocks over the axes `(..., n)`, numbered row by row.

    Args:
        axes: The sizes of the leading axes, such as batch and heads, and the
            number of rows `n`.
        sizes: The size of a block along each of them.
    """

    def __init__(self, axes: list[Size], sizes: list[Size]) -> None:
        self.axes = axes
        self.sizes = sizes
        self.counts = [
            (axis + size - 1) // size
            for axis, size in zip(axes, sizes, strict=True)
        ]

    @property
    def steps(self) -> Size:
        """How many blocks there are."""
        return math.prod(self.counts)

    @property
    def padded_axes(self) -> list[Size]:
        """The sizes of the axes up to whole blocks."""
        return [
            count * size
            for count, size in zip(self.counts, self.sizes, strict=True)
        ]

    def starts(self, step: Tensor) -> list[Tensor]:
        """Where block `step` begins along each axis."""
        starts = []
        for count, size in zip(
            reversed(self.counts), reversed(self.sizes), strict=True
        ):
            starts.append(step % count * size)
            step = step // count
        return starts[::-1]

    def places(self, x: Tensor, has_rows: bool) -> Places:
        """For `(..., m, dim)`; leading axes may be missing or 1."""
        rows = len(self.axes) - 1
        skipped = rows - len(x.shape[:-2])
        leading = [
            None if size == 1 else skipped + i
            for i, size in enumerate(x.shape[:-2])
        ]
        return [*leading, rows if has_rows else None, None]

    def padded(self, x: Tensor, places: Places) -> Tensor:
        """`x` with zeros up to whole blocks."""
        rests = [
            0 if place is None else self.padded_axes[place] - self.axes[place]
            for place in places
        ]
        if all(isinstance(rest, int) and rest == 0 for rest in rests):
            return x
        return ops.pad(x, [[0, rest] for rest in rests])

    def cropped(self, x: Tensor) -> Tensor:
        """A padded `(*axes, dim)` without its padding."""
        cropped = x[tuple(slice(0, axis) for axis in self.axes)]
        return known(cropped, (*self.axes, x.shape[-1]))

    def cut(self, x: Tensor, places: Places, starts: list[Tensor]) -> Tensor:
        """The block of `x` that begins at `starts`."""
        if not _is_cut(places):
            return x
        sizes = [
            size if place is None else self.sizes[place]
            for size, place in zip(ops.shape(x), places, strict=True)
        ]
        block = ops.slice(x, _at(places, starts), sizes)
        static = [
            size if place is None else self.sizes[place]
            for size, place in zip(x.shape, places, strict=True)
        ]
        return known(block, static)

    def put(
        self, x: Tensor, places: Places, starts: list[Tensor], block: Tensor
    ) -> Tensor:
        """`x` with `block` in the place that begins at `starts`."""
        if not _is_cut(places):
            return block
        updated = ops.slice_update(x, _at(places, starts), block)
        return known(updated, x.shape)


def _is_cut(places: Places) -> bool:
    return any(place is not None for place in places)


def _at(places: Places, starts: list[Tensor]) -> list[Any]:
    return [0 if place is None else starts[place] for place in places]
