"""Who may see whom? Booleans, True means may be seen, everywhere."""

import functools
from collections.abc import Callable

import keras
from keras import ops

from keras_attention import compilation, products
from keras_attention.base_layer import Tensor
from keras_attention.written_gradients import copied

#: By which the largest numbers can be added up: of float16, and of the others.
LITTLE_HALF = 1e-4
LITTLE = 1e-30


def every(*visible: Tensor | None) -> Tensor | None:
    """What no mask hides; None is a mask that hides nothing."""
    given = [mask for mask in visible if mask is not None]
    return functools.reduce(ops.logical_and, given) if given else None


def where(visible: Tensor | None, x: Tensor, otherwise: Tensor) -> Tensor:
    """`x` where visible; None hides nothing."""
    return x if visible is None else ops.where(visible, x, otherwise)


def of_keys(value_mask: Tensor | None) -> Tensor | None:
    """Hidden keys are hidden from every query: `(..., Tv) -> (..., 1, Tv)`."""
    return None if value_mask is None else ops.expand_dims(value_mask, -2)


def of_queries(query_mask: Tensor | None) -> Tensor | None:
    """A padded query sees no key: `(..., Tq) -> (..., Tq, 1)`."""
    return None if query_mask is None else ops.expand_dims(query_mask, -1)


def shown(x: Tensor, mask: Tensor | None) -> Tensor:
    """`x` with hidden steps set to 0, for what looks at all that is left.

    NaN that is not hidden then shows by itself.

    Args:
        x: `(..., T, dim)`.
        mask: `(..., T)`; None hides nothing.
    """
    if mask is None:
        return x
    return ops.where(ops.expand_dims(mask, -1), x, ops.zeros_like(x))


def finite(x: Tensor) -> tuple[Tensor, Tensor]:
    """`x` with its broken steps set to 0, and which steps are broken.

    A step is broken if it holds NaN or infinity. Behind a mask it would leak
    as 0 * NaN, forward and backward. Where some queries see it and others do
    not, a layer computes with finite steps, and `poison`s what it reaches.
    """
    # So little of each number that no sum overflows: one product takes half the
    # time of a comparison, which XLA writes down before it is reduced.
    is_half = keras.backend.standardize_dtype(x.dtype) == "float16"
    little = LITTLE_HALF if is_half else LITTLE
    column = ops.full((x.shape[-1], 1), little, x.dtype)
    sums = ops.squeeze(products.by_matrix(x, column), -1)
    is_broken = ops.logical_not(ops.isfinite(sums))
    return _without(x, is_broken), is_broken


def _without(x: Tensor, is_broken: Tensor) -> Tensor:
    """`x` with broken steps set to 0."""
    if not compilation.by_xla():
        return shown(x, ops.logical_not(is_broken))
    return _without_any(*copied([x, is_broken]))


@ops.custom_gradient
def _without_any(
    x: Tensor, is_broken: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, None]]]:
    """The same, in a branch that XLA takes only if there are any.

    Without one it would choose 0 or not each time that a step is read, and of
    windows a step is in many.
    """
    is_whole = ops.logical_not(is_broken)

    def gradient(upstream: Tensor) -> tuple[Tensor, None]:
        return shown(upstream, is_whole), None

    return ops.cond(
        ops.any(is_broken), lambda: shown(x, is_whole), lambda: x
    ), gradient


def poison(x: Tensor, is_broken: Tensor) -> Tensor:
    """NaN where `is_broken`, so that a visible broken step stays visible."""
    return ops.where(is_broken, float("nan"), x)


def stepwise(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """`function` of each step of `x`; NaN for a step that is broken.

    The gradient of the weights in `function` never meets the broken step.
    """
    x, is_broken = finite(x)
    return poison(function(x), ops.expand_dims(is_broken, -1))
