"""Attention that never looks back."""

from typing import Any

from keras import ops

from keras_attention import masks, stages
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.recurrent_alignment import RecurrentAlignment
from keras_attention.recurrent_attention import zeros
from keras_attention.serialization import export
from keras_attention.stages import Score
from keras_attention.stepwise import State


@export
class ForwardMaskAttention(RecurrentAlignment):
    """Softmax attention to the places from the last favourite on.

        a_ij = softmax_j(e_ij) over j >= m_{i-1},   else 0
        m_i  = argmax_j a_ij,   m_0 = 0

    Args:
        score: A `Score` or its name.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.

    Call arguments and Returns: as `BahdanauAttention`, without
        `use_causal_mask`. A padded query does not move on.

    Example:
        >>> attend = ForwardMaskAttention()
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        The simplest reading of "monotonic": [Raffel et al.,
        2017](https://arxiv.org/abs/1704.00784), 2.1, describe what it
        approximates. `m` has no gradient.
    """

    def __init__(self, score: Score | str = "additive", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)

    def initial_state(self, memory: Tensors) -> State:
        """`m_0`."""
        first = ops.sum(zeros(memory), axis=-1, keepdims=True)
        return {"favourite": ops.cast(first, "int32")}

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`a_i` and `m_i`."""
        scores = rows["scores"]
        places = ops.arange(ops.shape(scores)[-1], dtype="int32")
        before = state["favourite"]
        portions, total = self.alignment.spread(
            scores, masks.every(visible, places >= before)
        )
        has_seen = ops.any(portions > 0, axis=-1, keepdims=True)
        after = ops.where(has_seen, _first_largest(portions), before)
        return portions / total, {"favourite": after}


def _first_largest(x: Tensor) -> Tensor:
    """`argmax` over the last axis, which may be empty; an axis of 1."""
    largest = ops.max(x, axis=-1, keepdims=True, initial=0.0)
    is_before = ops.cumsum(ops.cast(x == largest, "int32"), axis=-1) == 0
    return ops.sum(ops.cast(is_before, "int32"), axis=-1, keepdims=True)
