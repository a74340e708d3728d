"""Key-value memory (Miller et al., 2016)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, boundary, masks, products, stages
from keras_attention.attention import Attention
from keras_attention.base_layer import PooledLayer, Shape, Tensor
from keras_attention.serialization import export
from keras_attention.stages import Alignment, Score


@export
class KeyValueMemory(PooledLayer):
    """Asks a memory of key-value pairs several times over.

        p_h     = softmax_i(score(q_h, k_i))    addressing
        o_h     = sum_i p_hi v_i                reading
        q_(h+1) = R_h (q_h + o_h)               the next question

    Each hop has an `R_h` of its own. Questions, keys and values come embedded,
    for example as sums of word vectors of one shared table. A memory with no
    visible slot leaves the question as it is.

    Args:
        hops: How often the memory is asked, `H` in the paper.
        score: A `Score` or its name; the paper's is the inner product.
        alignment: An `Alignment` or its name.
        kernel_initializer: Of every `R_h`.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        query: The questions, `(batch, dim)`.
        value: `(batch, slots, dim)`.
        key: `(batch, slots, key_dim)`. Defaults to `value`.
        value_mask: `(batch, slots)`, booleans or integers 0 and 1. False for
            empty slots.
        return_attention_scores: Whether to also return the weights.

    Returns:
        The last question, `q_(H+1)`, `(batch, dim)`, and, if asked, the
        weights of each hop, `(batch, hops, slots)`.

    Raises:
        ValueError: Questions and values differ in size.

    Example:
        >>> remember = KeyValueMemory(hops=2)
        >>> remember(ops.ones((3, 4)), ops.ones((3, 5, 4))).shape
        TensorShape([3, 4])

    Reference:
        [Miller et al., 2016](https://arxiv.org/abs/1606.03126), 3.1. In the
        authors' code `R` has a bias and stands between hops alone.
    """

    def __init__(
        self,
        hops: int = 2,
        score: Score | str = "dot",
        alignment: Alignment | str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.hops = arguments.integer("hops", hops)
        dtype = self.dtype_policy
        self.score = stages.get(Score, score, dtype=dtype)
        self.alignment = stages.get(Alignment, alignment, dtype=dtype)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.attend = Attention(self.score, self.alignment, dtype=dtype)

    def build(
        self,
        query_shape: Shape,
        value_shape: Shape | None = None,
        key_shape: Shape | None = None,
    ) -> None:
        """Creates `R` of every hop, and builds the score."""
        query_shape, value_shape = boundary.query_and_value_shapes(
            self, query_shape, value_shape
        )
        dim = query_shape[-1]
        if value_shape[-1] != dim:
            raise ValueError(
                "`value` must be as wide as `query`, since they are added. "
                f"Received: query_dim={dim}, value_dim={value_shape[-1]}"
            )
        one_query = (*query_shape[:-1], 1, dim)
        self.attend.build(one_query, value_shape, key_shape)
        self.R = [
            self.add_kernel((dim, dim), f"R_{hop}") for hop in range(self.hops)
        ]

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        value_mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The last question, and the weights if asked: see the class."""
        weights = []
        for R in self.R:
            o, p = self.attend(
                ops.expand_dims(query, -2),
                value,
                key,
                value_mask=value_mask,
                return_attention_scores=True,
            )
            asked = query + ops.squeeze(o, -2)
            turned = masks.stepwise(
                lambda q, R=R: products.by_matrix(q, R), asked
            )
            query = _where_any(value_mask, turned, query)
            weights.append(ops.squeeze(p, -2))
        if not return_attention_scores:
            return query
        return query, ops.stack(weights, axis=-2)


def _where_any(mask: Tensor | None, x: Tensor, otherwise: Tensor) -> Tensor:
    """`x` where some slot is visible."""
    if mask is None:
        return x
    return ops.where(ops.any(mask, axis=-1, keepdims=True), x, otherwise)
