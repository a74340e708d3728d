"""Tables of pairs, in the shape that XLA makes them in."""

from collections.abc import Callable

from keras import ops

from keras_attention.compilation import by_xla
from keras_attention.shapes import Tensor


def without_ones(
    function: Callable[[Tensor, Tensor | None], tuple[Tensor, ...]],
    scores: Tensor,
    visible: Tensor | None,
) -> tuple[Tensor, ...]:
    """`function(scores, visible)`, of tables without leading axes of 1.

    A block has them. XLA writes over the product that the scores are only what
    has the shape of that product, and a product it makes without them.

    Args:
        function: To results `(..., Tq, n)`.
        scores: `(..., Tq, Tv)`.
        visible: What is broadcast to `scores`, or None.
    """
    rank = len(scores.shape)
    given = [scores] if visible is None else [scores, visible]
    ones = [
        axis
        for axis in range(-rank, -2)
        if all(-axis > len(x.shape) or x.shape[axis] == 1 for x in given)
    ]
    if not ones or not by_xla():
        return function(scores, visible)
    tables = [_without(ones, x) for x in given]
    results = function(tables[0], tables[1] if tables[1:] else None)
    return tuple(ops.expand_dims(x, ones) for x in results)


def _without(axes: list[int], x: Tensor) -> Tensor:
    sizes = dict(zip(range(-len(x.shape), 0), ops.shape(x), strict=True))
    return ops.reshape(x, [n for axis, n in sizes.items() if axis not in axes])
