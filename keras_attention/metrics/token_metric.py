"""What metrics of tokens share."""

import abc
from typing import Any

import keras
from keras import ops

from keras_attention import arguments, padding, precision
from keras_attention.base_layer import Tensor
from keras_attention.serialization import Serializable


class TokenMetric(Serializable, keras.metrics.Metric):
    """Abstract: a mean over all real tokens of an epoch.

    Args:
        ignore_class: The target of padding, usually 0, or None.
        name: Of the metric.
        dtype: Of the sums; float32 at least if None.
    """

    def __init__(
        self,
        ignore_class: int | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype or precision.wide_floatx())
        self.ignore_class = arguments.class_id("ignore_class", ignore_class)
        self.mean = keras.metrics.Mean(dtype=self.dtype)

    @abc.abstractmethod
    def per_token(self, targets: Tensor, logits: Tensor) -> Tensor:
        """What the mean is taken of, finite for padding."""

    def update_state(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Adds a batch: see the class."""
        targets, logits, is_real = padding.real_tokens(
            y_true, y_pred, self.ignore_class
        )
        weights = padding.weights(is_real, sample_weight, self.dtype)
        # On one axis: of more, Keras takes the mean over a batch's steps, so
        # that a token in a batch of long sentences would count less.
        self.mean.update_state(
            ops.reshape(self.per_token(targets, logits), (-1,)),
            ops.reshape(weights, (-1,)),
        )
