"""Additive score (Bahdanau et al., 2015)."""

from typing import Any

import keras

from keras_attention import arguments, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.scores.sum_of_tanh import sum_of_tanh
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class AdditiveScore(Score):
    """Scores a query against a key with a one-hidden-layer network.

        score(q, k) = v . tanh(W q + U k [+ b])

    Query and key may have different sizes. Luong's "concat",
    v . tanh(W' [q; k]), is the same function with W' = [W U].

    Args:
        units: Size of the hidden layer, `n'` in the paper. None takes
            the size of the queries.
        use_bias: Whether there is a `b`; the paper has none.
        kernel_initializer: Of `W`, `U` and `v`.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments:
        query: `(batch, Tq, query_dim)`.
        key: `(batch, Tv, key_dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Example:
        >>> score = AdditiveScore(units=8)
        >>> score(ops.ones((2, 3, 4)), ops.ones((2, 5, 6))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), A.1.2. The
        paper starts `v` at 0 and `W`, `U` near 0; we start where all three
        learn at once.
    """

    def __init__(
        self,
        units: int | None = None,
        use_bias: bool = False,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = arguments.optional_integer("units", units)
        self.use_bias = arguments.boolean("use_bias", use_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates `W`, `U`, `v` and, if used, `b`."""
        units = self.units or query_shape[-1]
        self.W = self.add_kernel((query_shape[-1], units), "W")
        self.U = self.add_kernel((key_shape[-1], units), "U")
        self.v = self.add_kernel((units, 1), "v")
        self.b = (
            self.add_weight((units,), "zeros", name="b")
            if self.use_bias
            else None
        )

    def project_query(self, query: Tensor) -> Tensor:
        """`W q + b`."""
        Wq = products.by_matrix(query, self.W)
        return Wq if self.b is None else Wq + self.b

    def project_key(self, key: Tensor) -> Tensor:
        """`U k`, once per memory."""
        return products.by_matrix(key, self.U)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`v . tanh(W q + U k)`."""
        return sum_of_tanh(query, key, self.v)

    def numbers_per_pair(self) -> int:
        """The hidden layer."""
        return int(self.v.shape[0])
