"""Local-m attention (Luong et al., 2015)."""

from keras import ops

from keras_attention import inputs
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.local_attention import LocalAttention
from keras_attention.serialization import export


@export
class LocalMonotonicAttention(LocalAttention):
    """Query i looks around place i: both sequences run side by side.

        p_i  = min(i, S - 1)
        a_is = softmax_s(e_is),   |s - p_i| <= D,   else 0
        c_i  = sum_s a_is value_s

    `S` is the true length of each example: the place of its last visible
    key. A query behind the end looks at the last window, as in the authors'
    code. Places count from 0.

    Args:
        radius: `D`, keys visible on each side of `p_i`.
        score: A `Score` or its name. A `LocationScore` scores the places of
            the window.
        **kwargs: `dropout`, `seed`, `query_block_size`, `jit_compile`, and
            `keras.Layer` arguments, such as `name`.

    Call arguments: as `AttentionLayer`, and
        positions: The place `i` of each query, integers `(batch, Tq)` or
            `(1, Tq)`. Defaults to 0, 1, 2, ...; a decoder that runs step by
            step passes its step.

    Returns: as `AttentionLayer`.

    Example:
        >>> attend = LocalMonotonicAttention(radius=5)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), 3.2 (local-m).
    """

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        positions: Tensor | None = None,
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
        if positions is None:
            positions = ops.arange(ops.shape(query)[-2], dtype="int32")
        return self.attend(
            tensors,
            positions,
            use_causal_mask,
            return_attention_scores,
            training,
        )

    def centre(
        self, query: Tensor, memory: Tensors, position: Tensor
    ) -> Tensor:
        """The query's own place, or the last of the memory."""
        last = ops.maximum(inputs.lengths(memory) - 1, 0)
        place = ops.minimum(ops.cast(position, "int32"), last)
        every_query = ops.zeros_like(query[..., 0], "float32")
        return ops.cast(place, "float32") + every_query

    def fall_off(self, distance: Tensor) -> Tensor:
        """None within the window."""
        return ops.ones_like(distance)
