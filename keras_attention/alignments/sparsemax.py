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

    where `z_(1) >= z_(2) >= ...` are the sorted scores. The support is found
    without sorting them, by raising a lower bound of `tau` (Michelot, 1986).

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
        [Martins & Astudillo, 2016](https://arxiv.org/abs/1602.02068), eq. 3;
        [Michelot, 1986](https://doi.org/10.1007/BF00938486).
    """

    def normalize(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Scores below the largest by 1 or more get nothing."""
        largest = ops.max(scores, axis=-1, keepdims=True, initial=HIDDEN)
        # The largest moves no weight. Sums of hidden keys would overflow.
        z = ops.maximum(scores - ops.stop_gradient(largest), -2.0)
        tau = _threshold(z, _lower_bound(ops.stop_gradient(z)))
        return ops.maximum(z - tau, 0.0), ops.ones_like(largest)


def _lower_bound(z: Tensor) -> Tensor:
    """`tau`, but for rounding, of rows whose largest is 0: `(..., Tq, 1)`.

    What exceeds a lower bound of `tau` gives a closer one. It exceeds ever
    fewer scores, so this ends, after a few steps; sorting takes longer.
    """

    def raised(tau: Tensor, _is_raised: Tensor) -> tuple[Tensor, Tensor]:
        closer = ops.maximum(tau, _threshold(z, tau))
        return closer, ops.any(closer > tau)

    start = ops.full_like(ops.sum(z, axis=-1, keepdims=True), -1.0)
    loop = (start, ops.convert_to_tensor(True))
    return ops.while_loop(lambda _tau, is_raised: is_raised, raised, loop)[0]


def _threshold(z: Tensor, bound: Tensor) -> Tensor:
    """`(sum z - 1) / k` over the `k` scores above `bound`."""
    is_above = ops.logical_not(z <= bound)  # NaN too: its row becomes NaN.
    k = ops.sum(ops.cast(is_above, z.dtype), axis=-1, keepdims=True)
    z_above = ops.where(is_above, z, 0.0)
    return (ops.sum(z_above, axis=-1, keepdims=True) - 1.0) / k
