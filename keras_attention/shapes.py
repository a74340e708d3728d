"""What is known of a shape, told again: TensorFlow forgets it in loops."""

from typing import Any, TypeAlias

Tensor: TypeAlias = Any  # A tensor of whichever backend Keras runs on.
Shape: TypeAlias = tuple[int | None, ...]


def known(x: Tensor, shape: Any) -> Tensor:
    """`x`, told its shape; entries that are no integers tell nothing."""
    if hasattr(x, "set_shape"):
        x.set_shape([n if isinstance(n, int) else None for n in shape])
    return x


def known_as(x: Tensor, like: Tensor) -> Tensor:
    """`x`, told that it has the shape of `like`."""
    return known(x, like.shape)
