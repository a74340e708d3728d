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
        sizes: The size of a block along each of them. Leading axes are whole
            blocks, so that they need no padding; rows are padded.
    """

    def __init__(self, axes: list[Size], sizes: list[Size]) -> None:
        self.axes = axes
        self.sizes = sizes
        self.counts = [
            axis // size
            for axis, size in zip(axes[:-1], sizes[:-1], strict=True)
        ]
        self.counts.append((axes[-1] + sizes[-1] - 1) // sizes[-1])

    @property
    def steps(self) -> Size:
        """How many blocks there are."""
        return math.prod(self.counts)

    @property
    def padded_axes(self) -> list[Size]:
        """The sizes of the axes, that of the rows up to whole blocks."""
        return [*self.axes[:-1], self.counts[-1] * self.sizes[-1]]

    def groups(self) -> "Grid":
        """One block for all rows that are cut alike along the leading axes."""
        return Grid(self.padded_axes, [*self.sizes[:-1], self.padded_axes[-1]])

    def rows(self) -> "Grid":
        """The blocks of such a group."""
        return Grid([*self.sizes[:-1], self.padded_axes[-1]], self.sizes)

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
        """`x` with rows of zeros up to whole blocks, if its rows are cut."""
        rest = self.padded_axes[-1] - self.axes[-1]
        is_whole = isinstance(rest, int) and rest == 0
        if is_whole or len(self.axes) - 1 not in places:
            return x
        shape = ops.shape(x)
        zeros = ops.zeros((*shape[:-2], rest, shape[-1]), x.dtype)
        # XLA pads one number after the other; this it copies.
        return ops.concatenate([x, zeros], axis=-2)

    def cropped(self, x: Tensor) -> Tensor:
        """A padded `(*axes, dim)` without its padding."""
        cropped = x[..., : self.axes[-1], :]
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
