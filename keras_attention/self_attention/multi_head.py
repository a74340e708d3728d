"""Multi-head attention (Vaswani et al., 2017)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, boundary, inputs, products, stages
from keras_attention.attention import Attention
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.serialization import export
from keras_attention.stages import Alignment, Score
from keras_attention.stepwise import State, StepwiseAttention


@export
class MultiHeadAttention(StepwiseAttention):
    """Several attentions side by side, each on its own projection.

        head_h = read(alignment(score(W_Q^h q, W_K^h k)), W_V^h v)
        output = W_O [head_1; ...; head_H]

    Every projection belongs to one head. A score with weights of its own,
    such as `AdditiveScore`, shares these among the heads. Takes the weights
    of `keras.layers.MultiHeadAttention` as they are:
    `ours.set_weights(theirs.get_weights())`.

    Args:
        num_heads: How many heads, `H`.
        key_dim: Size of queries and keys in each head.
        value_dim: Size of values in each head. None takes `key_dim`.
        output_dim: Size of the output. None takes the size of the queries.
        score: A `Score` or its name.
        alignment: An `Alignment` or its name.
        use_bias: Whether the four projections have a bias.
        dropout: Fraction of the attention weights to drop in training.
        seed: Seed of the dropout.
        query_block_size: How many queries are computed at a time; the numbers
            do not depend on it. None chooses it from a memory budget.
        kernel_initializer: Of the four projections.
        bias_initializer: Of their biases.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments: as `AttentionLayer`; `attention_mask` may also be
        `(batch, heads, Tq, Tv)`.

    Returns:
        `(batch, Tq, output_dim)`, and, if asked, the weights before dropout,
        `(batch, heads, Tq, Tv)`. A query that sees no key gets the bias of
        the output alone.

    Example:
        >>> attend = MultiHeadAttention(num_heads=2, key_dim=8)
        >>> attend(ops.ones((2, 3, 16)), ops.ones((2, 5, 16))).shape
        TensorShape([2, 3, 16])

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), 3.2.2. Keras
        lets its causal mask start at the first key, and averages padding for
        a query that sees no key; here the last query stands at the last key,
        and such a query gets zeros.
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        output_dim: int | None = None,
        score: Score | str = "scaled_dot",
        alignment: Alignment | str = "softmax",
        use_bias: bool = True,
        dropout: float = 0.0,
        seed: int | None = None,
        query_block_size: int | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_heads = arguments.integer("num_heads", num_heads)
        self.key_dim = arguments.integer("key_dim", key_dim)
        self.value_dim = arguments.optional_integer("value_dim", value_dim)
        self.output_dim = arguments.optional_integer("output_dim", output_dim)
        self.use_bias = arguments.boolean("use_bias", use_bias)
        self.dropout = arguments.rate("dropout", dropout)
        self.seed = arguments.seed(seed)
        self.query_block_size = arguments.optional_integer(
            "query_block_size", query_block_size
        )
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        dtype = self.dtype_policy
        self.score = stages.get(Score, score, dtype=dtype)
        self.alignment = stages.get(Alignment, alignment, dtype=dtype)
        self.attend = Attention(
            self.score,
            self.alignment,
            dropout=self.dropout,
            seed=self.seed,
            query_block_size=self.query_block_size,
            dtype=dtype,
        )

    def build(
        self,
        query_shape: Shape,
        value_shape: Shape | None = None,
        key_shape: Shape | None = None,
    ) -> None:
        """Creates the projections, in Keras's order, and builds the score."""
        query_shape, value_shape = boundary.query_and_value_shapes(
            self, query_shape, value_shape
        )
        key_shape = key_shape or value_shape
        H, size = self.num_heads, self.key_dim
        value_size = self.value_dim or size
        out = self.output_dim or query_shape[-1]
        self.W_Q, self.b_Q = self._add_projection(
            "Q", (query_shape[-1], H, size), (H, size)
        )
        self.W_K, self.b_K = self._add_projection(
            "K", (key_shape[-1], H, size), (H, size)
        )
        self.W_V, self.b_V = self._add_projection(
            "V", (value_shape[-1], H, value_size), (H, value_size)
        )
        self.W_O, self.b_O = self._add_projection(
            "O", (H, value_size, out), (out,)
        )
        self.attend.build(
            (query_shape[0], H, query_shape[-2], size),
            (value_shape[0], H, value_shape[-2], value_size),
            (value_shape[0], H, value_shape[-2], size),
        )

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        use_causal_mask: bool = False,
        return_attention_scores: bool = False,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Output, and the weights if asked: see the class."""
        rows, shared = inputs.rows_and_shared(
            _one_head(query),
            _one_head(value),
            None if key is None else _one_head(key),
            _for_heads(query_mask),
            _for_heads(value_mask),
            _pairs_for_heads(attention_mask, query),
            hides_pairs=use_causal_mask,
        )
        rows["query"] = _heads(rows["query"], self.W_Q, self.b_Q)
        self._split(shared)
        heads, *weights = keras.tree.flatten(
            self.attend.attend(
                (rows, shared),
                use_causal_mask,
                return_attention_scores,
                training,
            )
        )
        output = self._joined(heads)
        return (output, *weights) if return_attention_scores else output

    def remember(
        self,
        value: Tensor,
        key: Tensor | None = None,
        value_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensors:
        """The heads of the memory: see `StepwiseAttention`."""
        shared = inputs.memory(
            _one_head(value),
            None if key is None else _one_head(key),
            _for_heads(value_mask),
        )
        self._split(shared)
        return self.attend.prepared(shared, training)

    def context_dim(self, query_dim: int, value_dim: int) -> int:
        """The size of the output."""
        return self.output_dim or query_dim

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One query asks the memory: see `StepwiseAttention`."""
        query = _heads(_one_head(query), self.W_Q, self.b_Q)
        heads, weights, state = self.attend.recall(
            query, memory, state, position
        )
        return self._joined(heads), ops.mean(weights, axis=-3), state

    def _split(self, shared: Tensors) -> None:
        """Key and value into heads."""
        shared["value"] = _heads(shared["value"], self.W_V, self.b_V)
        shared["key"] = _heads(shared["key"], self.W_K, self.b_K)

    def _joined(self, heads: Tensor) -> Tensor:
        """The output of the heads' contexts."""
        rows = ops.swapaxes(heads, -2, -3)
        return products.with_bias(rows, self.W_O, self.b_O, axes=2)

    def _add_projection(
        self, name: str, kernel_shape: Shape, bias_shape: Shape
    ) -> tuple[Any, Any]:
        W = self.add_kernel(kernel_shape, f"W_{name}")
        if not self.use_bias:
            return W, None
        b = self.add_weight(bias_shape, self.bias_initializer, name=f"b_{name}")
        return W, b


def _one_head(x: Tensor) -> Tensor:
    """`(..., T, dim) -> (..., 1, T, dim)`."""
    return ops.expand_dims(x, -3)


def _heads(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    """`(..., 1, T, dim) -> (..., heads, T, size)`."""
    return ops.swapaxes(products.with_bias(ops.squeeze(x, -3), W, b), -2, -3)


def _for_heads(mask: Tensor | None) -> Tensor | None:
    """`(..., T) -> (..., 1, T)`."""
    return None if mask is None else ops.expand_dims(mask, -2)


def _pairs_for_heads(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """Any `attention_mask` as `(..., heads or 1, Tq or 1, Tv)`."""
    if mask is None or len(mask.shape) > len(query.shape):
        return mask
    if len(mask.shape) < len(query.shape):
        mask = ops.expand_dims(mask, -2)
    return ops.expand_dims(mask, -3)
