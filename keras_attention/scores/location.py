"""Location score (Luong et al., 2015)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, boundary, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.serialization import export
from keras_attention.stages import PlaceScore


@export
class LocationScore(PlaceScore):
    """Scores places by the query alone, whatever stands there.

        score(q, .) = W q,   W (length, query_dim)

    Place j gets entry j; a memory shorter than `length` uses the first ones.

    Args:
        length: The longest memory, `S_max`. None takes the length of the
            first one, which must then be known when the layer is built.
        kernel_initializer: Of `W`.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments:
        query: `(batch, Tq, query_dim)`.
        key: `(batch, Tv, key_dim)`; only its length counts.

    Returns:
        Scores, `(batch, Tq, Tv)`.

    Raises:
        ValueError: The memory is longer than `length`, or its length is
            unknown and none is given.

    Example:
        >>> score = LocationScore(length=10)
        >>> score(ops.ones((2, 3, 4)), ops.ones((2, 5, 6))).shape
        TensorShape([2, 3, 5])

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), eq. 8.
    """

    def __init__(
        self,
        length: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.length = arguments.optional_integer("length", length)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates `W`, stored as `(query_dim, length)`."""
        length = self.length or boundary.known_steps(
            self, "value", key_shape[-2]
        )
        self.W = self.add_kernel((query_shape[-1], length), "W")

    def project_query(self, query: Tensor) -> Tensor:
        """`W q`: a score for each of the `length` places."""
        return products.by_matrix(query, self.W)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores of the places that exist."""
        length, steps = query.shape[-1], ops.shape(key)[-2]
        if isinstance(steps, int) and steps > length:
            raise ValueError(
                f"`length` must be at least the length of the memory. "
                f"Received: length={length}, Tv={steps}"
            )
        return query[..., :steps]
