"""What the losses share: the mean is over what is real."""

import abc
from typing import Any

import keras

from keras_attention import arguments, padding, precision
from keras_attention.base_layer import Tensor
from keras_attention.serialization import Serializable

#: Keras's "sum_over_batch_size" would count padding that has weight 0.
REDUCTIONS = ("mean_with_sample_weight", "sum", "none")


class MaskedLoss(Serializable, keras.losses.Loss):
    """Abstract: padding costs nothing and does not count in the mean.

    Keras's own losses divide by all that no Keras mask hides. These divide by
    the sum of the weights, which is 0 for padding, however it is marked. If
    all is padding, the loss and its gradient are 0.

    Losses are computed in float32 at least, whatever the model's dtype.

    Args:
        reduction: `"mean_with_sample_weight"`, `"sum"`, or None for one loss
            per unit.
        name: Of the loss.
    """

    def __init__(
        self,
        *,
        reduction: str | None = "mean_with_sample_weight",
        name: str | None = None,
    ) -> None:
        super().__init__(
            name=name,
            reduction=arguments.choice(
                "reduction",
                "none" if reduction is None else reduction,
                REDUCTIONS,
            ),
            dtype=precision.wide_floatx(),
        )

    @abc.abstractmethod
    def real(self, y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Both, 0 where padded, and which units of the loss are real."""

    @abc.abstractmethod
    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """One loss per unit, finite for padding."""

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Tensor:
        """The loss, reduced: see the class."""
        y_true, y_pred, is_real = self.real(y_true, y_pred)
        weights = padding.weights(is_real, sample_weight, self.dtype)
        return super().__call__(y_true, y_pred, weights)
