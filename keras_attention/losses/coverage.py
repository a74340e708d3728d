"""Coverage loss (See et al., 2017)."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.losses.attention_loss import AttentionLoss
from keras_attention.serialization import export


@export
class CoverageLoss(AttentionLoss):
    """Costs what is looked at again.

        c_t = sum_{t' < t} a_t'                 coverage, before the step
        L_t = factor sum_i min(a_ti, c_ti)

    The first step costs nothing. The mean is over the steps.

    Args:
        factor: `lambda` in the paper, which takes 1.
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
        >>> weights = ops.convert_to_tensor([[[0.5, 0.5], [1.0, 0.0]]])
        >>> CoverageLoss(reduction=None)(ops.ones((1, 2, 2)), weights).numpy()
        array([[0. , 0.5]], dtype=float32)

    Reference:
        [See et al., 2017](https://arxiv.org/abs/1704.04368), eq. 10 to 13.
    """

    def cost(self, y_true: Tensor, weights: Tensor) -> Tensor:
        """One penalty per step, `(batch, Tq)`."""
        nothing = ops.zeros_like(weights[:, :1])
        before = ops.concatenate([nothing, weights[:, :-1]], axis=1)
        coverage = ops.cumsum(before, axis=1)
        return ops.sum(ops.minimum(weights, coverage), axis=-1)
