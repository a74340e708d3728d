"""What of the arguments of a loss or a metric is real, and what is padding.

Padding is set to 0 before anything is computed, so that NaN behind a mask
stays there, in the gradient too; and it has weight 0 in every mean.
"""

from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor


def mask_of(x: Any) -> Tensor | None:
    """The mask that Keras has hung on `x`.

    A tracer of JAX takes no attribute: where its mask is, Keras alone knows.
    """
    return keras.src.backend.get_keras_mask(x)


def real_tokens(
    y_true: Any, y_pred: Any, ignore_class: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Targets and logits, 0 where padded, and which of them are real.

    Args:
        y_true: `(..., T)` or `(..., T, 1)`, ids.
        y_pred: `(..., T, K)`, logits; the mask that hangs on it counts.
        ignore_class: The id that is padding, if there is one.
    """
    mask = mask_of(y_pred)
    logits = ops.convert_to_tensor(y_pred)
    targets = ops.cast(ops.convert_to_tensor(y_true), "int32")
    targets = _without_last(targets, len(logits.shape))
    if len(targets.shape) != len(logits.shape) - 1:
        raise ValueError(
            "`y_true` must have the axes of `y_pred` without the last, "
            "`(batch, T)` and `(batch, T, K)`. Received: "
            f"y_true.shape={targets.shape}, y_pred.shape={logits.shape}"
        )
    is_real = ops.ones_like(targets, dtype="bool")
    if ignore_class is not None:
        is_real = ops.not_equal(targets, ignore_class)
    if mask is not None:
        is_real = ops.logical_and(is_real, ops.cast(mask, "bool"))
    return (
        ops.where(is_real, targets, 0),
        where_real(ops.expand_dims(is_real, -1), logits),
        is_real,
    )


def where_real(is_real: Tensor, x: Tensor) -> Tensor:
    """`x`, and 0 where it is padding."""
    return ops.where(is_real, x, ops.zeros_like(x))


def weights(is_real: Tensor, sample_weight: Any, dtype: str) -> Tensor:
    """How much each unit counts; padding does not.

    Args:
        is_real: `(batch, ...)`, booleans, one per unit.
        sample_weight: None, one weight per unit, or one per example or step
            that all its units share.
        dtype: Of the result.
    """
    if sample_weight is None:
        return ops.cast(is_real, dtype)
    weight = ops.cast(ops.convert_to_tensor(sample_weight), dtype)
    rank = len(is_real.shape)
    weight = _without_last(weight, rank + 1)
    if len(weight.shape) > rank:
        raise ValueError(
            f"`sample_weight` must have at most {rank} axes, as what it "
            f"weighs. Received: sample_weight.shape={weight.shape}"
        )
    for _missing in range(rank - len(weight.shape)):
        weight = ops.expand_dims(weight, -1)
    return where_real(is_real, ops.broadcast_to(weight, ops.shape(is_real)))


def _without_last(x: Tensor, rank: int) -> Tensor:
    """`x`; of this rank, and with a last axis of length 1, without it."""
    is_column = len(x.shape) == rank and x.shape[-1] == 1
    return ops.squeeze(x, -1) if is_column else x
