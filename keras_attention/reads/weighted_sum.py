"""Weighted-sum read (Bahdanau et al., 2015)."""

from keras_attention import products
from keras_attention.base_layer import Tensor
from keras_attention.serialization import export
from keras_attention.stages import Read


@export
class WeightedSumRead(Read):
    """Adds up the values, each by its weight.

        context_i = sum_j weight_ij value_j

    Call arguments:
        weights: `(batch, Tq, Tv)`.
        value: `(batch, Tv, value_dim)`.

    Returns:
        Context, `(batch, Tq, value_dim)`.

    Example:
        >>> read = WeightedSumRead()
        >>> read(ops.ones((2, 3, 5)), ops.ones((2, 5, 4))).shape
        TensorShape([2, 3, 4])

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), eq. 5.
    """

    def read(self, weights: Tensor, value: Tensor) -> Tensor:
        """`(..., Tq, Tv), (..., Tv, dim) -> (..., Tq, dim)`."""
        return products.of_weights(weights, value)
