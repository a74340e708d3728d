"""Intra-temporal attention (Paulus et al., 2018)."""

from typing import Any

from keras import ops

from keras_attention import masks, stages
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.recurrent_alignment import (
    RecurrentAlignment,
    log_of_sum,
)
from keras_attention.recurrent_attention import zeros
from keras_attention.serialization import export
from keras_attention.stages import HIDDEN, Score
from keras_attention.stepwise import State


@export
class IntraTemporalAttention(RecurrentAlignment):
    """Places that scored high before score lower now.

        e'_ij = exp(e_ij)                          at the first step
                exp(e_ij) / sum_{t<i} exp(e_tj)    later
        a_ij  = e'_ij / sum_j e'_ij

    Computed with logarithms, so that no `exp` overflows.

    Args:
        score: A `Score` or its name; the paper's is `"general"`.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.

    Call arguments and Returns: as `BahdanauAttention`, without
        `use_causal_mask`. A padded query and a hidden key leave no trace in
        the sums.

    Example:
        >>> attend = IntraTemporalAttention()
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Paulus et al., 2018](https://arxiv.org/abs/1705.04304), eq. 1 to 5.
    """

    def __init__(self, score: Score | str = "general", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)

    def initial_state(self, memory: Tensors) -> State:
        """The logarithm of an empty sum."""
        return {"log_sum": zeros(memory) + HIDDEN}

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`log e'_i`, and the logarithm of the sums with `exp(e_i)`."""
        scores = rows["scores"]
        log_sum = state["log_sum"]
        before = ops.where(log_sum <= HIDDEN / 2, 0.0, log_sum)
        sums = log_of_sum(log_sum, masks.where(visible, scores, HIDDEN))
        return scores - before, {"log_sum": sums}

    def aligned(self, found: Tensor, visible: Tensor | None) -> Tensor:
        """`a_i`."""
        portions, total = self.alignment.spread(found, visible)
        return stages.divided(portions, total, found.dtype)
