"""Sparsemax alignment (Martins & Astudillo, 2016)."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.serialization import export
from keras_attention.stages import HIDDEN, Normalizer


@export
class SparsemaxAlignment(Normalizer):
    """Projects the scores onto the simplex, so most weights are exactly 0.

        sparsemax(z) = max(z - tau(z), 0)
        tau(z) = (sum_{j <= k} z_(j) - 1) / k
        k = max { j : 1 + j z_(j) > sum_{i <= j} z_(i) }

    where `z_(1) >= z_(2) >= ...` are the sorted scores.

    Call arguments:
        scores: `(batch, Tq, Tv)`.
        mask: Boolean, broadcastable to `scores`; True to attend.

    Returns:
        Weights, `(batch, Tq, Tv)`, summing to 1 over the visible keys; 0 for
        a query that sees none.

    Example:
        >>> SparsemaxAlignment()(ops.array([[[0.4, 0.2, -3.0]]]))
        [[[0.6, 0.4, 0.0]]]

    Reference:
        [Martins & Astudillo, 2016](https://arxiv.org/abs/1602.02068), alg. 1.
    """

    def normalize(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Scores below the largest by 1 or more get nothing."""
        largest = ops.max(scores, axis=-1, keepdims=True, initial=HIDDEN)
        z = ops.maximum(scores - largest, -2.0)  # Sums of hidden keys overflow.
        z_sorted = ops.flip(ops.sort(z, axis=-1), axis=-1)
        z_sum = ops.cumsum(z_sorted, axis=-1)
        rank = ops.cumsum(ops.ones_like(z), axis=-1)
        support = 1.0 + rank * z_sorted > z_sum

        k = ops.sum(ops.cast(support, z.dtype), axis=-1, keepdims=True)
        z_in_support = ops.where(support, z_sorted, 0.0)
        tau = (ops.sum(z_in_support, axis=-1, keepdims=True) - 1.0) / k
        return ops.maximum(z - tau, 0.0), ops.ones_like(largest)
