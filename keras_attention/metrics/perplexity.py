"""Perplexity of a language model."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.metrics.token_metric import TokenMetric
from keras_attention.serialization import export


@export
class Perplexity(TokenMetric):
    """How many classes the model is as unsure between, on average.

        exp(- 1/M sum_m log p(target_m))

    The sum runs over all real tokens since the last `reset_state`; it is not
    the mean of the batches' perplexities, which is larger. Padding is what has
    the target `ignore_class`, what a Keras mask on `y_pred` hides, and what has
    a sample weight of 0.

    Args:
        ignore_class: The target of padding, usually 0, or None.
        name: Of the metric.
        dtype: Of the sums; float32 at least if None.

    Call arguments:
        y_true: `(batch, T)`, the ids of the targets.
        y_pred: `(batch, T, K)`, logits.
        sample_weight: `(batch,)` or `(batch, T)`.

    Returns:
        A scalar, over all batches since the last `reset_state`; 1 before any.

    Example:
        >>> perplexity = Perplexity(ignore_class=0)
        >>> round(float(perplexity([[2, 1, 0]], ops.zeros((1, 3, 4)))), 4)
        4.0

    Reference:
        [Jelinek et al., 1977](https://doi.org/10.1121/1.2016299).
    """

    def __init__(
        self,
        ignore_class: int | None = None,
        name: str = "perplexity",
        dtype: str | None = None,
    ) -> None:
        super().__init__(ignore_class, name, dtype)

    def per_token(self, targets: Tensor, logits: Tensor) -> Tensor:
        """`-log p(target)`."""
        return ops.sparse_categorical_crossentropy(
            targets, ops.cast(logits, self.dtype), from_logits=True
        )

    def result(self) -> Tensor:
        """The perplexity so far."""
        return ops.exp(self.mean.result())
