"""The share of tokens that are right."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.metrics.token_metric import TokenMetric
from keras_attention.serialization import export


@export
class TokenAccuracy(TokenMetric):
    """The share of real tokens whose likeliest class is the target.

    Padding is what has the target `ignore_class`, what a Keras mask on `y_pred`
    hides, and what has a sample weight of 0.

    Args:
        ignore_class: The target of padding, usually 0, or None.
        name: Of the metric.
        dtype: Of the sums; float32 at least if None.

    Call arguments:
        y_true: `(batch, T)`, the ids of the targets.
        y_pred: `(batch, T, K)`, logits or probabilities.
        sample_weight: `(batch,)` or `(batch, T)`.

    Returns:
        A scalar, over all batches since the last `reset_state`; 0 before any.

    Example:
        >>> accuracy = TokenAccuracy(ignore_class=0)
        >>> float(accuracy([[2, 1, 0]], ops.one_hot([[2, 2, 0]], 3)))
        0.5
    """

    def __init__(
        self,
        ignore_class: int | None = None,
        name: str = "token_accuracy",
        dtype: str | None = None,
    ) -> None:
        super().__init__(ignore_class, name, dtype)

    def per_token(self, targets: Tensor, logits: Tensor) -> Tensor:
        """1 if right, else 0."""
        guesses = ops.cast(ops.argmax(logits, axis=-1), targets.dtype)
        return ops.cast(ops.equal(guesses, targets), self.dtype)

    def result(self) -> Tensor:
        """The share so far."""
        return self.mean.result()
