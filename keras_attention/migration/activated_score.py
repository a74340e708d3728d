"""A score through a function, for models of keras-self-attention."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, stages
from keras_attention.base_layer import Shape, Tensor
from keras_attention.serialization import PACKAGE
from keras_attention.stages import Score


@keras.saving.register_keras_serializable(PACKAGE)
class ActivatedScore(Score):
    """A function of a score and a number.

        score(q, k) = activation(inner(q, k) + b)

    Args:
        score: `inner`, a `Score` or its name.
        activation: A function, or the name of one of Keras's.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.

    Call arguments and Returns: as `inner`.
    """

    def __init__(
        self,
        score: Score | str = "additive",
        activation: Any = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.score: Score = stages.get(Score, score, dtype=self.dtype_policy)
        self.activation = arguments.activation("activation", activation)

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Builds `inner`, and creates `b`."""
        if not self.score.built:  # A loaded stage arrives already built.
            self.score.build(query_shape, key_shape)
        self.b = self.add_weight((1,), "zeros", name="b")

    def project_query(self, query: Tensor) -> Tensor:
        """As `inner`."""
        return self.score.project_query(query)

    def project_key(self, key: Tensor) -> Tensor:
        """As `inner`."""
        return self.score.project_key(key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """`activation(inner + b)`."""
        scores = self.score.compare(query, key)
        return self.activation(scores + ops.cast(self.b, scores.dtype))

    def numbers_per_pair(self) -> int:
        """As `inner`."""
        return self.score.numbers_per_pair()
