"""Short windows of a long sequence, one for each query."""

from keras import ops

from keras_attention.base_layer import Tensor


def places(start: Tensor, width: int) -> Tensor:
    """The keys in each window, `(..., Tq) -> (..., Tq, width)`; any integer."""
    return ops.expand_dims(start, -1) + ops.arange(width, dtype="int32")


def gather(sequence: Tensor, place: Tensor) -> Tensor:
    """The steps in each window.

    Args:
        sequence: `(..., Tv, dim)`.
        place: Integers `(..., Tq, width)`. One outside the sequence gets
            some step of it, to be hidden by `exists`.

    Returns:
        `(..., Tq, width, dim)`.
    """
    *leading, steps, dim = ops.shape(sequence)
    count = 1
    for size in leading:
        count = count * size
    first = ops.arange(count, dtype="int32") * steps
    first = ops.reshape(first, (*leading, 1, 1))
    flat = ops.reshape(sequence, (1, count * steps, dim))
    if not isinstance(steps, int) or steps == 0:
        # An empty sequence, too, has a step to be hidden.
        flat = ops.pad(flat, [[0, 0], [0, 1], [0, 0]])
    # Along axis 1, since the gradient along axis 0 is an IndexedSlices.
    inside = ops.clip(place, 0, ops.maximum(steps - 1, 0))
    chosen = ops.take(flat, first + inside, axis=1)
    return ops.squeeze(chosen, 0)


def gather_mask(mask: Tensor, place: Tensor) -> Tensor:
    """A mask `(..., Tv)` at the places of the windows, `(..., Tq, width)`."""
    flags = ops.expand_dims(ops.cast(mask, "float32"), -1)
    return ops.squeeze(gather(flags, place), -1) > 0.5


def exists(place: Tensor, steps: Tensor | int) -> Tensor:
    """Which places of a window lie inside the sequence."""
    return ops.logical_and(place >= 0, place < steps)


def scatter(weights: Tensor, start: Tensor, steps: Tensor | int) -> Tensor:
    """Weights of windows, put where they belong in the whole sequence.

    Args:
        weights: `(..., Tq, width)`, 0 outside the sequence.
        start: The first place of each window, `(..., Tq)`.
        steps: `Tv`.

    Returns:
        `(..., Tq, Tv)`.
    """
    width = weights.shape[-1]
    slot = ops.arange(steps, dtype="int32") - ops.expand_dims(start, -1)
    inside = ops.clip(slot, 0, width - 1)
    spread = ops.take_along_axis(weights, inside, axis=-1)
    return ops.where(exists(slot, width), spread, 0.0)
