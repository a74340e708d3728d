"""Cross-entropy of tokens, with label smoothing (Szegedy et al., 2016)."""

from collections.abc import Callable
from typing import Any

from keras import ops

from keras_attention import arguments, compilation, padding
from keras_attention.base_layer import Tensor
from keras_attention.losses.masked_loss import MaskedLoss
from keras_attention.serialization import export


@export
class TokenCrossentropy(MaskedLoss):
    """Cross-entropy of the tokens that are real, and of no padding.

        L = - sum_k q_k log softmax(logits)_k

    Without smoothing, `q` is 1 at the target. Of the target's 1, smoothing
    takes `eps`, and spreads it in one of two ways:

        smooth_over      at the target        elsewhere
        "all"            1 - eps + eps / K    eps / K
        "others"         1 - eps              eps / (K - 1)

    `"all"` is Keras's, `"others"` that of the Transformer's own code,
    tensor2tensor. That code also subtracts the entropy of `q`, a constant, so
    that the best loss is 0; `subtract_entropy=True` does, for either.

    Padding is what has the target `ignore_class`, what a Keras mask on `y_pred`
    hides, and what has a sample weight of 0. The mean is over all else.

    Args:
        label_smoothing: `eps`, a fraction.
        smooth_over: `"all"` or `"others"`.
        subtract_entropy: Whether the least possible loss is 0.
        ignore_class: The target of padding, usually 0, or None.
        **kwargs: `reduction` and `name`, as in `MaskedLoss`.

    Call arguments:
        y_true: `(batch, T)`, the ids of the targets.
        y_pred: `(batch, T, K)`, logits; logarithms of probabilities are such.
        sample_weight: `(batch,)` or `(batch, T)`.

    Returns:
        A scalar; with `reduction=None`, `(batch, T)`.

    Raises:
        ValueError: The ids lack an axis, or there is one class and smoothing
            is over the others.

    Example:
        >>> loss = TokenCrossentropy(label_smoothing=0.1, ignore_class=0)
        >>> float(loss([[2, 1, 0]], ops.zeros((1, 3, 4))))
        1.3862943649291992

    Reference:
        [Szegedy et al., 2016](https://arxiv.org/abs/1512.00567), section 7, for
        `"all"`; [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762),
        section 5.4, whose code has `"others"`.
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        smooth_over: str = "all",
        subtract_entropy: bool = False,
        ignore_class: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.label_smoothing = arguments.rate(
            "label_smoothing", label_smoothing
        )
        self.smooth_over = arguments.choice(
            "smooth_over", smooth_over, ("all", "others")
        )
        self.subtract_entropy = arguments.boolean(
            "subtract_entropy", subtract_entropy
        )
        self.ignore_class = arguments.class_id("ignore_class", ignore_class)

    def real(self, y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens that are neither ignored nor masked."""
        return padding.real_tokens(y_true, y_pred, self.ignore_class)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """One loss per token, `(batch, T)`."""
        of_target = _of_target(ops.cast(y_true, "int32"), y_pred)
        if not self.label_smoothing:
            return of_target
        K = self._classes(y_pred)
        share = self.label_smoothing
        if self.smooth_over == "others":  # Of what all K get, K - 1 remain.
            share = share * K / (K - 1)
        of_all = ops.logsumexp(y_pred, axis=-1) - ops.mean(y_pred, axis=-1)
        loss = (1 - share) * of_target + share * of_all
        if self.subtract_entropy:
            return loss - _entropy(1 - share + share / K, share / K, K - 1)
        return loss

    def _classes(self, y_pred: Tensor) -> Tensor:
        """`K`, as a float."""
        if y_pred.shape[-1] == 1 and self.smooth_over == "others":
            raise ValueError(
                "`y_pred` must have 2 classes or more for smoothing over the "
                f"others. Received: y_pred.shape={y_pred.shape}"
            )
        return ops.cast(ops.shape(y_pred)[-1], y_pred.dtype)


def _of_target(targets: Tensor, logits: Tensor) -> Tensor:
    """`- log softmax(logits)` at the targets.

    Of TensorFlow's own operation XLA writes one more table of all classes.
    """
    if not compilation.by_xla():
        return ops.sparse_categorical_crossentropy(
            targets, logits, from_logits=True
        )
    return ops.logsumexp(logits, axis=-1) - _at(targets, logits)


def _at(targets: Tensor, logits: Tensor) -> Tensor:
    """The logits of the targets; in their gradient nothing is scattered."""
    targets = ops.expand_dims(targets, -1)

    @ops.custom_gradient
    def at(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        def gradient(upstream: Tensor) -> Tensor:
            classes = ops.arange(ops.shape(logits)[-1], dtype="int32")
            slope = ops.expand_dims(upstream, -1)
            return ops.where(classes == targets, slope, 0.0)

        found = ops.take_along_axis(logits, targets, axis=-1)
        return ops.squeeze(found, -1), gradient

    found: Tensor = at(logits)
    return found


def _entropy(target: Tensor, other: Tensor, others: Tensor) -> Tensor:
    """Of one probability `target` and as many as `others` of `other`."""
    return -target * ops.log(target) - others * other * ops.log(other)
