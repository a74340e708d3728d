"""Key-value(-predict) attention (Daniluk et al., 2017)."""

from typing import Any

from keras import ops

from keras_attention import arguments, boundary, masks, products, windows
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import PerStepLayer, Shape, Tensor
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.scores.additive import AdditiveScore
from keras_attention.serialization import export


@export
class KeyValueAttention(PerStepLayer):
    """A language model's attention over its own last few outputs.

        h_t     = [k_t; v_t; p_t]            one vector, three duties
        M_t     = tanh(Y k_s + H k_t)        s = t - window, ..., t - 1
        alpha_t = softmax_s(w . M_t)
        r_t     = sum_s alpha_ts v_s
        h*_t    = tanh(R r_t + X p_t)

    The current output is not attended to; the first one sees nothing and has
    r = 0.

    Args:
        window: How many outputs are looked back at, `L` in the paper.
        parts: What `h_t` is split into. 3: key, value and prediction. 2: key
            and value, with p_t = v_t. 1: plain attention, with
            k_t = v_t = p_t = h_t.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        inputs: `(batch, T, dim)`, `dim` divisible by `parts`.
        mask: `(batch, T)`, booleans or integers 0 and 1. Steps that are False
            are not attended to, and get zeros.
        return_attention_scores: Whether to also return the weights.

    Returns:
        `h*`, `(batch, T, dim / parts)`, and, if asked, the weights,
        `(batch, T, T)`.

    Raises:
        ValueError: `dim` is not divisible by `parts`.

    Example:
        >>> KeyValueAttention(window=5, parts=2)(ops.ones((2, 7, 8))).shape
        TensorShape([2, 7, 4])

    Reference:
        [Daniluk et al., 2017](https://arxiv.org/abs/1702.04521), eq. 2 to 16.
    """

    def __init__(self, window: int = 5, parts: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.window = arguments.integer("window", window)
        self.parts = arguments.integer("parts", parts)
        if self.parts > 3:
            raise ValueError(
                "`parts` must be 1 (plain), 2 (key, value) or 3 (key, value, "
                f"prediction). Received: parts={parts}"
            )
        self.score = AdditiveScore(dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)
        self.read = WeightedSumRead(dtype=self.dtype_policy)

    def build(self, inputs_shape: Shape) -> None:
        """Creates `R` and `X`; the score holds `H` (W), `Y` (U), `w` (v)."""
        leading, steps, dim = boundary.one_shape(self, inputs_shape)
        if dim % self.parts:
            raise ValueError(
                "`inputs` must have a last axis that `parts` divides. "
                f"Received: dim={dim}, parts={self.parts}"
            )
        size = dim // self.parts
        if not self.score.built:  # A loaded stage arrives already built.
            shape = (*leading, steps, size)
            self.score.build(shape, shape)
        self.R = self.add_weight((size, size), name="R")
        self.X = self.add_weight((size, size), name="X")

    def call(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """`h*`, and the weights if asked: see the class."""
        h = masks.shown(inputs, mask)
        parts = ops.split(h, self.parts, axis=-1)
        k, v, p = parts[0], parts[min(1, self.parts - 1)], parts[-1]
        weights = self._weights(k, mask)
        r = self.read.read(
            ops.expand_dims(weights, -2), windows.before(v, self.window)
        )
        r = ops.cast(ops.squeeze(r, -2), self.compute_dtype)
        h_star = ops.tanh(
            products.by_matrix(r, self.R) + products.by_matrix(p, self.X)
        )
        if not return_attention_scores:
            return h_star
        steps = ops.shape(h)[-2]
        start = ops.arange(steps, dtype="int32") - self.window
        start = start + ops.zeros_like(h[..., 0], "int32")
        return h_star, windows.scatter(weights, start, steps)

    def _weights(self, k: Tensor, mask: Tensor | None) -> Tensor:
        """`alpha_t` over the window, `(..., T, window)`."""
        scores = self.score.compare(
            ops.expand_dims(self.score.project_query(k), -2),
            windows.before(self.score.project_key(k), self.window),
        )
        is_step = ops.ones_like(k[..., 0], "bool") if mask is None else mask
        return self.alignment.align(
            ops.squeeze(scores, -2),
            masks.every(
                windows.mask_before(is_step, self.window),
                masks.of_queries(mask),
            ),
        )
