"""Feed-forward attention (Raffel & Ellis, 2016)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, boundary, masks, products
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import PooledLayer, Shape, Tensor
from keras_attention.pooling.pool import pool
from keras_attention.serialization import export


@export
class FeedForwardAttention(PooledLayer):
    """One vector out of a sequence; each step is weighed by itself.

        e_t = tanh(w . h_t + b)
        a_t = softmax_t(e_t)
        c   = sum_t a_t h_t

    The tanh bounds the scores, so no step weighs more than e^2 times another.
    With `activation=None` it is DeepMoji's layer: e_t = w . h_t, and one `b`
    for all steps, which a softmax does not notice, is left out.

    Args:
        step_bias: Whether there is a `b_t` for each step in place of one `b`,
            as in a layer that is widely copied from Kaggle. The length of the
            sequence is then fixed.
        kernel_initializer: Of `w`. None is the paper's: normal, with standard
            deviation 1 / sqrt(dim).
        activation: Of the scores; the paper's is `"tanh"`.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        inputs: `(batch, T, dim)`.
        mask: `(batch, T)`, booleans or integers 0 and 1. Steps that are False
            get no weight.
        return_attention_scores: Whether to also return the weights.

    Returns:
        `(batch, dim)`, and, if asked, the weights, `(batch, T)`. A sequence
        with no visible step gives zeros.

    Raises:
        ValueError: `step_bias` and a length that is unknown.

    Example:
        >>> FeedForwardAttention()(ops.ones((2, 7, 4))).shape
        TensorShape([2, 4])

    Reference:
        [Raffel & Ellis, 2016](https://arxiv.org/abs/1512.08756), eq. 1. The
        Kaggle layer also adds 1e-7 to the sum of the exponentials; we do not.
        Without activation,
        [Felbo et al., 2017](https://arxiv.org/abs/1708.00524).
    """

    def __init__(
        self,
        step_bias: bool = False,
        kernel_initializer: Any = None,
        activation: Any = "tanh",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.step_bias = arguments.boolean("step_bias", step_bias)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.activation = arguments.activation("activation", activation)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)

    def build(self, inputs_shape: Shape) -> None:
        """Creates `w` and, if the weights depend on it, `b`."""
        _leading, steps, dim = boundary.one_shape(self, inputs_shape)
        if self.step_bias:
            steps = boundary.known_steps(self, "inputs", steps)
        normal = keras.initializers.RandomNormal(stddev=dim**-0.5)
        self.w = self.add_weight(
            (dim, 1), self.kernel_initializer or normal, name="w"
        )
        self.b = None
        if self.step_bias or self.activation is not keras.activations.linear:
            count = steps if self.step_bias else 1
            self.b = self.add_weight((count,), "zeros", name="b")

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The pooled vector, and the weights if asked: see the class."""
        h = masks.shown(inputs, mask)
        e = ops.swapaxes(self._score(h), -1, -2)
        context, weights = pool(e, h, mask, self.alignment)
        context, weights = ops.squeeze(context, -2), ops.squeeze(weights, -2)
        return (context, weights) if return_attention_scores else context

    def _score(self, h: Tensor) -> Tensor:
        e = products.by_matrix(h, self.w)
        if self.b is not None:
            e = e + ops.expand_dims(self.b, -1)
        return self.activation(e)
