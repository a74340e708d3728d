"""Squeeze-and-excitation for sequences (Hu et al., 2018)."""

from typing import Any

from keras import ops

from keras_attention import arguments, boundary, masks, products
from keras_attention.base_layer import PerStepLayer, Shape, Tensor
from keras_attention.precision import widened
from keras_attention.serialization import export


@export
class SequenceSqueezeExcitation(PerStepLayer):
    """Rescales the channels of a sequence, by a look at all of them.

        z = mean of each channel               squeeze
        s = sigmoid(V relu(W z [+ b]) [+ c])   excitation
        y = s x                                scale

    A channel is a feature, its mean taken over the visible steps, so that any
    length will do; or a step, its mean taken over the features, so that the
    length is fixed.

    Args:
        channels: `"features"` or `"steps"`.
        ratio: How many times smaller the hidden layer is, never below 1 unit.
        use_bias: Whether there are a `b` and a `c`.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        inputs: `(batch, T, dim)`.
        mask: `(batch, T)`, booleans or integers 0 and 1. Steps that are False
            are not averaged and come out as zeros.
        return_attention_scores: Whether to also return the scales.

    Returns:
        `(batch, T, dim)`, and, if asked, `s`: `(batch, dim)` for features,
        `(batch, T)` for steps, 0 where hidden.

    Raises:
        ValueError: Steps as channels, and a length that is unknown.

    Example:
        >>> SequenceSqueezeExcitation(ratio=4)(ops.ones((2, 7, 16))).shape
        TensorShape([2, 7, 16])

    Reference:
        [Hu et al., 2018](https://arxiv.org/abs/1709.01507), eq. 2 to 4.
    """

    def __init__(
        self,
        channels: str = "features",
        ratio: int = 4,
        use_bias: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.channels = arguments.choice(
            "channels", channels, ("features", "steps")
        )
        self.ratio = arguments.integer("ratio", ratio)
        self.use_bias = arguments.boolean("use_bias", use_bias)

    def build(self, inputs_shape: Shape) -> None:
        """Creates `W` and `V`, and `b` and `c` if used."""
        _leading, steps, dim = boundary.one_shape(self, inputs_shape)
        if self.channels == "steps":
            dim = boundary.known_steps(self, "inputs", steps)
        units = max(1, dim // self.ratio)
        self.W = self.add_weight((dim, units), name="W")
        self.V = self.add_weight((units, dim), name="V")
        if self.use_bias:
            self.b = self.add_weight((units,), "zeros", name="b")
            self.c = self.add_weight((dim,), "zeros", name="c")

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The rescaled sequence, and the scales if asked: see the class."""
        x = masks.shown(inputs, mask)
        by_feature = self.channels == "features"
        z = _mean_of_steps(x, mask) if by_feature else _mean_of_features(x)
        s = self._excitation(z)
        if mask is not None:
            by_any = ops.any(mask, axis=-1, keepdims=True)
            s = ops.where(by_any if by_feature else mask, s, 0.0)
        y = x * ops.expand_dims(s, -2) if by_feature else products.by_rows(x, s)
        y = masks.shown(y, mask)
        return (y, s) if return_attention_scores else y

    def _excitation(self, z: Tensor) -> Tensor:
        hidden = products.by_matrix(z, self.W)
        hidden = ops.relu(hidden + self.b if self.use_bias else hidden)
        s = products.by_matrix(hidden, self.V)
        return ops.sigmoid(s + self.c if self.use_bias else s)


def _mean_of_steps(x: Tensor, mask: Tensor | None) -> Tensor:
    """The mean over the visible steps, `(..., dim)`; 0 if there is none."""
    total = ops.sum(widened(x), axis=-2)
    if mask is None:
        count = ops.cast(ops.maximum(ops.shape(x)[-2], 1), total.dtype)
    else:
        count = ops.sum(ops.cast(mask, total.dtype), axis=-1, keepdims=True)
    return ops.cast(total / ops.maximum(count, 1.0), x.dtype)


def _mean_of_features(x: Tensor) -> Tensor:
    """The mean of each step, `(..., T)`."""
    return ops.cast(products.row_sums(x) / x.shape[-1], x.dtype)
