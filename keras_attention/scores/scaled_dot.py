"""Scaled dot score (Vaswani et al., 2017)."""

from keras_attention import products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.scores.dimensions import check_equal
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class ScaledDotScore(Score):
    """Scores a query against a key by their inner product, scaled.

        score(q, k) = q . k / sqrt(dim)

    Call arguments:
        query: `(batch, Tq, dim)`.
        key: `(batch, Tv, dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Raises:
        ValueError: Query and key differ in size.

    Example:
        >>> ScaledDotScore()(ops.ones((2, 3, 4)), ops.ones((2, 5, 4))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), eq. 1.
    """

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """No weights; the sizes must agree."""
        check_equal(self, query_shape, key_shape)

    def project_query(self, query: Tensor) -> Tensor:
        """Scaled before the product, which float16 could not hold."""
        return query * query.shape[-1] ** -0.5

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`q . k`."""
        return products.of_pairs(query, key)
