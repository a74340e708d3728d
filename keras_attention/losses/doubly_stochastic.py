"""Doubly stochastic attention (Xu et al., 2015)."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.losses.attention_loss import AttentionLoss
from keras_attention.serialization import export


@export
class DoublyStochasticLoss(AttentionLoss):
    """Asks of all steps together to look at every source position once.

        L = factor sum_i (1 - sum_t alpha_ti)^2

    The mean is over the examples. Padded steps give no weight to the inner
    sum, and padded source positions are not in the outer one.

    Args:
        factor: `lambda` in the paper.
        **kwargs: `reduction` and `name`, as in `MaskedLoss`.

    Call arguments:
        y_true: `(batch, Tq, Tv)`, or what broadcasts to it, such as
            `(batch, 1, Tv)`: 1 or True where target step and source position
            are real, 0 where one of them is padding.
        y_pred: `(batch, Tq, Tv)`, attention weights.
        sample_weight: `(batch,)`.

    Returns:
        A scalar; with `reduction=None`, `(batch,)`.

    Example:
        >>> weights = ops.convert_to_tensor([[[0.5, 0.5], [1.0, 0.0]]])
        >>> float(DoublyStochasticLoss()(ops.ones((1, 2, 2)), weights))
        0.5

    Reference:
        [Xu et al., 2015](https://arxiv.org/abs/1502.03044), eq. 14.
    """

    unit_axes = (-2, -1)

    def cost(self, y_true: Tensor, weights: Tensor) -> Tensor:
        """One penalty per example, `(batch,)`."""
        is_source = ops.any(y_true > 0, axis=-2)
        missing = 1 - ops.sum(weights, axis=-2)
        return ops.sum(ops.where(is_source, ops.square(missing), 0.0), axis=-1)
