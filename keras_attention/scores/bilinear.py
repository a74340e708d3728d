"""Bilinear score, Luong's "general" (Luong et al., 2015)."""

from typing import Any

import keras
from keras import ops

from keras_attention import products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class BilinearScore(Score):
    """Scores a query against a key through a matrix; sizes may differ.

        score(q, k) = q . W k,   W (query_dim, key_dim)

    Args:
        kernel_initializer: Of `W`.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments:
        query: `(batch, Tq, query_dim)`.
        key: `(batch, Tv, key_dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Example:
        >>> BilinearScore()(ops.ones((2, 3, 4)), ops.ones((2, 5, 6))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), 3.1 (general).
    """

    def __init__(
        self, kernel_initializer: Any = "glorot_uniform", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates `W`."""
        self.W = self.add_kernel((query_shape[-1], key_shape[-1]), "W")

    def project_key(self, key: Tensor) -> Tensor:
        """`W k`, once per memory."""
        return products.by_matrix(key, ops.transpose(self.W))

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`q . (W k)`."""
        return products.of_pairs(query, key)
