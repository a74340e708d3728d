"""Sigmoid alignment (Ramapuram et al., 2024)."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.serialization import export
from keras_attention.stages import Normalizer


@export
class SigmoidAlignment(Normalizer):
    """Weighs each key by itself: keys do not compete, rows do not sum to 1.

        weight_ij = 1 / (1 + exp(-e_ij))

    The paper subtracts log(Tv) from the scores to keep the sums near 1; that
    is left to the score here, since it depends on padding.

    Call arguments:
        scores: `(batch, Tq, Tv)`.
        mask: Boolean, broadcastable to `scores`; True to attend.

    Returns:
        Weights, `(batch, Tq, Tv)`, each between 0 and 1.

    Example:
        >>> SigmoidAlignment()(ops.zeros((1, 1, 2)))
        [[[0.5, 0.5]]]

    Reference:
        [Ramapuram et al., 2024](https://arxiv.org/abs/2409.04431), eq. 3.
    """

    def normalize(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Elementwise; nothing is divided."""
        total = ops.ones_like(ops.sum(scores, axis=-1, keepdims=True))
        return ops.sigmoid(scores), total
