"""Additive score with weight normalisation (Raffel et al., 2017)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.precision import widened
from keras_attention.scores.sum_of_tanh import sum_of_tanh
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class NormalizedAdditiveScore(Score):
    """The additive score, its length learned apart from its direction.

        score(q, k) = g v / |v| . tanh(W q + U k + b)

    `g` starts at 1 / sqrt(units) and `b` at 0, as in TensorFlow Addons'
    normalised Bahdanau attention.

    Args:
        units: Size of the hidden layer. None takes the size of the queries.
        kernel_initializer: Of `W`, `U` and `v`.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments:
        query: `(batch, Tq, query_dim)`.
        key: `(batch, Tv, key_dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Example:
        >>> score = NormalizedAdditiveScore(units=8)
        >>> score(ops.ones((2, 3, 4)), ops.ones((2, 5, 6))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Raffel et al., 2017](https://arxiv.org/abs/1704.00784), eq. 16, after
        [Salimans & Kingma, 2016](https://arxiv.org/abs/1602.07868).
    """

    def __init__(
        self,
        units: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = arguments.optional_integer("units", units)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates `W`, `U`, `v`, `g` and `b`."""
        units: Any = self.units or query_shape[-1]
        self.W = self.add_kernel((query_shape[-1], units), "W")
        self.U = self.add_kernel((key_shape[-1], units), "U")
        self.v = self.add_kernel((units, 1), "v")
        start = keras.initializers.Constant(units**-0.5)
        self.g = self.add_weight((), start, name="g")
        self.b = self.add_weight((units,), "zeros", name="b")

    def project_query(self, query: Tensor) -> Tensor:
        """`W q + b`."""
        return products.with_bias(query, self.W, self.b)

    def project_key(self, key: Tensor) -> Tensor:
        """`U k`, once per memory."""
        return products.by_matrix(key, self.U)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`g v / |v| . tanh(W q + U k + b)`."""
        v = widened(self.v)
        direction = v * ops.rsqrt(ops.sum(ops.square(v)))
        return sum_of_tanh(query, key, widened(self.g) * direction)

    def numbers_per_pair(self) -> int:
        """The hidden layer."""
        return int(self.v.shape[0])
