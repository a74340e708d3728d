"""Cosine score (Graves et al., 2014)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.precision import widened
from keras_attention.scores.dimensions import check_equal
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class CosineScore(Score):
    """Scores a query against a key by their angle, whatever their lengths.

        score(q, k) = beta q . k / (|q| |k|)

    A vector of zeros scores 0 against everything.

    Args:
        scale: `beta`, how sharp the attention can get: cosines lie between
            -1 and 1, so with `beta` = 1 no weight exceeds another by more
            than e^2.
        learn_scale: Whether `beta` is a weight that starts at `scale`.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments:
        query: `(batch, Tq, dim)`.
        key: `(batch, Tv, dim)`.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Raises:
        ValueError: Query and key differ in size.

    Example:
        >>> CosineScore()(ops.ones((1, 1, 4)), ops.ones((1, 1, 4)))
        [[[1.0]]]

    Reference:
        [Graves et al., 2014](https://arxiv.org/abs/1410.5401), eq. 5 and 6.
    """

    def __init__(
        self, scale: float = 1.0, learn_scale: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.scale = arguments.number("scale", scale)
        self.learn_scale = arguments.boolean("learn_scale", learn_scale)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates `beta`, if it is learned."""
        check_equal(self, query_shape, key_shape)
        start = keras.initializers.Constant(self.scale)
        self.beta = (
            self.add_weight((), start, name="beta")
            if self.learn_scale
            else self.scale
        )

    def project_query(self, query: Tensor) -> Tensor:
        """`beta q / |q|`."""
        return self.beta * _direction(query)

    def project_key(self, key: Tensor) -> Tensor:
        """`k / |k|`, once per memory."""
        return _direction(key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The product of the directions."""
        return products.of_pairs(query, key)


def _direction(x: Tensor) -> Tensor:
    """`x / |x|`, and 0 for 0, with a finite gradient there."""
    wide = widened(x)
    square = ops.sum(ops.square(wide), axis=-1, keepdims=True)
    is_zero = ops.equal(square, 0.0)
    inverse = ops.rsqrt(ops.where(is_zero, 1.0, square))
    return ops.cast(ops.where(is_zero, 0.0, wide * inverse), x.dtype)
