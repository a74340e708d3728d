"""What losses on attention weights share."""

import abc
from typing import Any, ClassVar

from keras import ops

from keras_attention import arguments, padding
from keras_attention.base_layer import Tensor
from keras_attention.losses.masked_loss import MaskedLoss


class AttentionLoss(MaskedLoss):
    """Abstract: a loss on attention weights, `(batch, Tq, Tv)`.

    `y_true` says which weights are real: those where it is above 0, and where
    no Keras mask on the weights hides the target step.

    A subclass writes `cost`.

    Args:
        factor: The loss is multiplied by it.
        **kwargs: `reduction` and `name`, as in `MaskedLoss`.
    """

    #: The axes of `(batch, Tq, Tv)` that one unit of the loss takes together.
    unit_axes: ClassVar[tuple[int, ...]] = (-1,)

    def __init__(self, factor: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = arguments.number("factor", factor, at_least=0.0)

    @abc.abstractmethod
    def cost(self, y_true: Tensor, weights: Tensor) -> Tensor:
        """One loss per unit, of tensors that are 0 where padded."""

    def real(self, y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Units with at least one real weight."""
        mask = padding.mask_of(y_pred)
        weights = ops.cast(ops.convert_to_tensor(y_pred), self.dtype)
        y_true = ops.cast(ops.convert_to_tensor(y_true), self.dtype)
        if len(weights.shape) != 3 or len(y_true.shape) != 3:
            raise ValueError(
                "`y_true` and `y_pred` must be `(batch, Tq, Tv)`. Received: "
                f"y_true.shape={y_true.shape}, y_pred.shape={weights.shape}"
            )
        y_true = ops.broadcast_to(y_true, ops.shape(weights))
        is_real = y_true > 0
        if mask is not None:
            of_step = ops.expand_dims(ops.cast(mask, "bool"), -1)
            is_real = ops.logical_and(is_real, of_step)
        return (
            padding.where_real(is_real, y_true),
            padding.where_real(is_real, weights),
            ops.any(is_real, axis=self.unit_axes),
        )

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """One loss per unit."""
        return self.factor * self.cost(y_true, y_pred)
