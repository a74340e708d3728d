"""Softmax alignment (Bahdanau et al., 2015)."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.serialization import export
from keras_attention.stages import HIDDEN, Normalizer


@export
class SoftmaxAlignment(Normalizer):
    """Spreads attention over every visible key, in proportion to exp(score).

        weight_ij = exp(e_ij) / sum_k exp(e_ik)

    Call arguments:
        scores: `(batch, Tq, Tv)`.
        mask: Boolean, broadcastable to `scores`; True to attend.

    Returns:
        Weights, `(batch, Tq, Tv)`, summing to 1 over the visible keys; 0 for
        a query that sees none.

    Example:
        >>> SoftmaxAlignment()(ops.zeros((1, 1, 4)))
        [[[0.25, 0.25, 0.25, 0.25]]]

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), eq. 6.
    """

    def normalize(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The largest score of a row is taken off, so nothing overflows."""
        largest = ops.max(scores, axis=-1, keepdims=True, initial=HIDDEN)
        exponentials = ops.exp(scores - ops.stop_gradient(largest))
        total = ops.sum(exponentials, axis=-1, keepdims=True)
        return exponentials, ops.where(total > 0.0, total, 1.0)  # Tv is 0.
