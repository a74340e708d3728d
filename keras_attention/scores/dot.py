"""Dot score (Luong et al., 2015)."""

from keras_attention import products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.scores.dimensions import check_equal
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class DotScore(Score):
    """Scores a query against a key by their inner product.

        score(q, k) = q . k

    Call arguments:
        query: `(batch, Tq, dim)`.
        key: `(batch, Tv, dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Raises:
        ValueError: Query and key differ in size.

    Example:
        >>> DotScore()(ops.ones((2, 3, 4)), ops.ones((2, 5, 4))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), 3.1 (dot).
    """

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """No weights; the sizes must agree."""
        check_equal(self, query_shape, key_shape)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`q . k`."""
        return products.of_pairs(query, key)
