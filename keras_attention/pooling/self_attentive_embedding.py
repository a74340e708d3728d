"""Structured self-attentive embedding (Lin et al., 2017)."""

from typing import Any

from keras import ops

from keras_attention import arguments, boundary, masks, products
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import PooledLayer, Shape, Tensor
from keras_attention.pooling.pool import pool
from keras_attention.precision import widened
from keras_attention.serialization import export


@export
class SelfAttentiveEmbedding(PooledLayer):
    """Several vectors out of a sequence, each from its own view of it.

        A = softmax_t(V tanh(W H^T))     (hops, T)
        M = A H                          (hops, dim)
        P = |A A^T - I|_F^2              pushes the views apart

    `penalty` times the mean of `P` over the batch joins the model's losses;
    in a training loop of your own, add `sum(model.losses)`.

    Args:
        hops: How many vectors, `r` in the paper.
        units: Size of the hidden layer, `d_a` in the paper.
        penalty: Factor on `P`; 0 adds no loss. The paper takes 1, or 0.3.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        inputs: `(batch, T, dim)`.
        mask: `(batch, T)`, booleans or integers 0 and 1. Steps that are False
            get no weight.
        return_attention_scores: Whether to also return `A`.

    Returns:
        `M`, `(batch, hops, dim)`, and, if asked, `A`, `(batch, hops, T)`. A
        sequence with no visible step gives zeros, and no penalty.

    Example:
        >>> embed = SelfAttentiveEmbedding(hops=4, units=16, penalty=1.0)
        >>> embed(ops.ones((2, 7, 8))).shape
        TensorShape([2, 4, 8])

    Reference:
        [Lin et al., 2017](https://arxiv.org/abs/1703.03130), eq. 6 to 8. Two
        well-known repositories use the norm that is not squared.
    """

    def __init__(
        self, hops: int, units: int, penalty: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.hops = arguments.integer("hops", hops)
        self.units = arguments.integer("units", units)
        self.penalty = arguments.number("penalty", penalty, at_least=0.0)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)

    def build(self, inputs_shape: Shape) -> None:
        """Creates `W` and `V`, stored for products from the right."""
        _leading, _steps, dim = boundary.one_shape(self, inputs_shape)
        self.W = self.add_weight((dim, self.units), name="W")
        self.V = self.add_weight((self.units, self.hops), name="V")

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """`M`, and `A` if asked: see the class."""
        H = masks.shown(inputs, mask)
        hidden = ops.tanh(products.by_matrix(H, self.W))
        scores = ops.swapaxes(products.by_matrix(hidden, self.V), -1, -2)
        M, A = pool(scores, H, mask, self.alignment)
        if self.penalty:
            self.add_loss(self.penalty * _mean_penalty(A, mask))
        return (M, A) if return_attention_scores else M


def _mean_penalty(A: Tensor, mask: Tensor | None) -> Tensor:
    """`|A A^T - I|_F^2`, in float32, over the examples that have steps."""
    A = widened(A)
    overlap = ops.matmul(A, ops.swapaxes(A, -1, -2))
    identity = ops.eye(A.shape[-2], dtype=A.dtype)
    P = ops.sum(ops.square(overlap - identity), axis=(-2, -1))
    if mask is None:
        return ops.mean(P)
    has_steps = ops.any(mask, axis=-1)
    count = ops.sum(ops.cast(has_steps, P.dtype))
    return ops.sum(ops.where(has_steps, P, 0.0)) / ops.maximum(count, 1.0)
