"""Local-p attention (Luong et al., 2015)."""

from typing import Any

from keras import ops

from keras_attention import arguments, inputs, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.local_attention import LocalAttention
from keras_attention.precision import widened
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class LocalPredictiveAttention(LocalAttention):
    """Each query predicts where to look, and looks around that place.

        p_i  = S sigmoid(v . tanh(W h_i))
        a_is = softmax_s(e_is) exp(-(s - p_i)^2 / (2 sigma^2)),  |s - p_i| <= D
        c_i  = sum_s a_is value_s

    with sigma = D / 2 and `S` the true length of each example: the place of
    its last visible key. The weights sum to less than 1: the paper does not
    normalise again. `p_i` learns through the Gaussian alone. Places count
    from 0.

    Args:
        radius: `D`, keys visible on each side of `p_i`.
        score: A `Score` or its name. A `LocationScore` scores the places of
            the window.
        units: Rows of `W`. None takes the size of the queries.
        **kwargs: `dropout`, `seed`, `query_block_size`, `jit_compile`, and
            `keras.Layer` arguments, such as `name`.

    Call arguments and Returns: as `AttentionLayer`. The length comes from
        `value_mask`, or an `attention_mask` of the same shape.

    Example:
        >>> attend = LocalPredictiveAttention(radius=5)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), eq. 9 and 10.
    """

    def __init__(
        self,
        radius: int = 10,
        score: Score | str = "general",
        units: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(radius, score, **kwargs)
        self.radius = arguments.integer("radius", radius)
        self.units = arguments.optional_integer("units", units)

    def build_more(self, query_shape: Shape, value_shape: Shape) -> None:
        """Creates `W` and `v`."""
        units = self.units or query_shape[-1]
        self.W = self.add_weight((query_shape[-1], units), name="W")
        self.v = self.add_weight((units, 1), name="v")

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
        """Context, and the weights if asked: see the class."""
        tensors = inputs.rows_and_shared(
            query,
            value,
            key,
            query_mask,
            value_mask,
            attention_mask,
            hides_pairs=True,
        )
        return self.attend(
            tensors,
            tensors[0]["position"],
            use_causal_mask,
            return_attention_scores,
            training,
        )

    def fall_off(self, distance: Tensor) -> Tensor:
        """The Gaussian, with sigma = D / 2."""
        return ops.exp(-2.0 * ops.square(distance / self.radius))

    def centre(
        self, query: Tensor, memory: Tensors, position: Tensor
    ) -> Tensor:
        """`p_i`, in float32: half precision cannot tell far places apart."""
        W, v, h = widened(self.W), widened(self.v), widened(query)
        place = products.by_matrix(ops.tanh(products.by_matrix(h, W)), v)
        lengths = inputs.lengths(memory)
        return ops.cast(lengths, h.dtype) * ops.sigmoid(ops.squeeze(place, -1))
