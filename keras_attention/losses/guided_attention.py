"""Guided attention (Tachibana et al., 2018)."""

from typing import Any

from keras import ops

from keras_attention import arguments
from keras_attention.base_layer import Tensor
from keras_attention.losses.attention_loss import AttentionLoss
from keras_attention.serialization import export


@export
class GuidedAttentionLoss(AttentionLoss):
    """Makes attention run along the diagonal, as in speech.

        W_tn = 1 - exp(-(n / N - t / T)^2 / (2 g^2))
        L_t  = factor / N sum_n alpha_tn W_tn

    `T` and `N` are the numbers of steps and of source positions that are real,
    and `t` and `n` count these from 0. The mean is over the steps, so that one
    example's loss is the mean over its `T N` weights.

    Args:
        width: `g`, how far from the diagonal is still near.
        factor: The loss is multiplied by it.
        **kwargs: `reduction` and `name`, as in `MaskedLoss`.

    Call arguments:
        y_true: `(batch, Tq, Tv)`, or what broadcasts to it: 1 or True where
            target step and source position are real, 0 where one of them is
            padding.
        y_pred: `(batch, Tq, Tv)`, attention weights.
        sample_weight: `(batch,)` or `(batch, Tq)`.

    Returns:
        A scalar; with `reduction=None`, `(batch, Tq)`.

    Example:
        >>> loss = GuidedAttentionLoss()
        >>> float(loss(ops.ones((1, 3, 3)), ops.eye(3)[None]))
        0.0

    Reference:
        [Tachibana et al., 2018](https://arxiv.org/abs/1710.08969), section 4.
    """

    def __init__(self, width: float = 0.2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.width = arguments.number("width", width, at_least=1e-6)

    def cost(self, y_true: Tensor, weights: Tensor) -> Tensor:
        """One penalty per step, `(batch, Tq)`."""
        t, _T = _places(ops.any(y_true > 0, axis=-1), weights.dtype)
        n, N = _places(ops.any(y_true > 0, axis=-2), weights.dtype)
        distance = ops.expand_dims(t, -1) - ops.expand_dims(n, -2)
        W = 1 - ops.exp(-ops.square(distance / self.width) / 2)
        return ops.sum(weights * W, axis=-1) / N


def _places(is_real: Tensor, dtype: str) -> tuple[Tensor, Tensor]:
    """Where each step is, from 0 to 1, and how many there are, 1 at least."""
    real = ops.cast(is_real, dtype)
    count = ops.maximum(ops.sum(real, axis=-1, keepdims=True), 1)
    return (ops.cumsum(real, axis=-1) - 1) / count, count
