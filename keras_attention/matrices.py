"""Tables of pairs as matrices, which XLA is fastest at."""

import math
from collections.abc import Callable

from keras import ops

from keras_attention.compilation import by_xla
from keras_attention.shapes import Tensor


def summed(x: Tensor) -> Tensor:
    """The sum of each row, `(..., n) -> (..., 1)`."""
    return _of_rows(lambda rows: ops.sum(rows, -1, keepdims=True), x)


def largest(x: Tensor, least: float) -> Tensor:
    """The largest of each row, or `least`, `(..., n) -> (..., 1)`."""
    return _of_rows(
        lambda rows: ops.max(rows, -1, keepdims=True, initial=least), x
    )


def of_one(
    function: Callable[[Tensor, Tensor | None], tuple[Tensor, ...]],
    scores: Tensor,
    visible: Tensor | None,
) -> tuple[Tensor, ...]:
    """`function(scores, visible)`, of a matrix if there is only one.

    So is a block of one head. XLA writes over the product that the scores are
    only what has the shape of that product, which is a matrix.
    """
    given = [scores] if visible is None else [scores, visible]
    ones = scores.shape[:-2]
    if not ones or not all(map(_is_one, given)) or not by_xla():
        return function(scores, visible)
    matrices = [ops.reshape(x, ops.shape(x)[-2:]) for x in given]
    results = function(matrices[0], matrices[1] if matrices[1:] else None)
    return tuple(ops.reshape(x, (*ones, *ops.shape(x))) for x in results)


def _is_one(x: Tensor) -> bool:
    return all(size == 1 for size in x.shape[:-2])


def _of_rows(reduce: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """XLA reduces the rows of a matrix at once, and those of others in parts.

    In between it would write down a part of each 32 numbers.
    """
    if len(x.shape) < 3 or not by_xla():
        return reduce(x)
    *axes, numbers = ops.shape(x)
    rows = ops.reshape(x, (math.prod(axes), numbers))
    return ops.reshape(reduce(rows), (*axes, 1))
