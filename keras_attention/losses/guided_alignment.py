"""Guided alignment (Chen et al., 2016)."""

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.losses.attention_loss import AttentionLoss
from keras_attention.serialization import export


@export
class GuidedAlignmentLoss(AttentionLoss):
    """Cross-entropy between alignments that are known, and the weights.

        L_t = - factor sum_i A_ti log alpha_ti,     sum_i A_ti = 1

    A step aligned to several positions shares its 1 among them: each row of
    the alignments is divided by its sum. The mean is over the steps that are
    aligned; padding, and words without a counterpart, have a row of zeros.
    A weight below `keras.config.epsilon()` counts as that, so that a weight
    of 0 does not cost infinitely much.

    Args:
        factor: The loss is multiplied by it.
        **kwargs: `reduction` and `name`, as in `MaskedLoss`.

    Call arguments:
        y_true: `(batch, Tq, Tv)`, alignments, counts or probabilities; not
            negative.
        y_pred: `(batch, Tq, Tv)`, attention weights.
        sample_weight: `(batch,)` or `(batch, Tq)`.

    Returns:
        A scalar; with `reduction=None`, `(batch, Tq)`.

    Example:
        >>> weights = ops.convert_to_tensor([[[0.5, 0.5], [1.0, 0.0]]])
        >>> float(GuidedAlignmentLoss()([[[0.0, 1.0], [0.0, 0.0]]], weights))
        0.6931471824645996

    Reference:
        [Chen et al., 2016](https://arxiv.org/abs/1607.01628).
    """

    def cost(self, y_true: Tensor, weights: Tensor) -> Tensor:
        """One cross-entropy per step, `(batch, Tq)`."""
        total = ops.sum(y_true, axis=-1, keepdims=True)
        A = ops.divide_no_nan(y_true, total)
        alpha = ops.maximum(weights, keras.config.epsilon())
        return -ops.sum(A * ops.log(alpha), axis=-1)
