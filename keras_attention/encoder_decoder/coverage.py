"""Attention with coverage (See et al., 2017)."""

from typing import Any

from keras import ops

from keras_attention import arguments, products
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.recurrent_attention import RecurrentAttention, zeros
from keras_attention.scores.additive import AdditiveScore
from keras_attention.serialization import export
from keras_attention.stepwise import State


@export
class CoverageAttention(RecurrentAttention):
    """Additive attention that is told where it has looked already.

        c_i  = a_1 + ... + a_{i-1},   c_1 = 0            coverage
        e_ij = v . tanh(W q_i + U k_j + w c_ij + b)
        a_ij = softmax_j(e_ij)

    The coverage of a place is the sum of the weights it got.

    Args:
        units: Size of the hidden layer of the score. None takes the size of
            the queries.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.

    Call arguments and Returns: as `BahdanauAttention`, without
        `use_causal_mask`. A padded query adds nothing to the coverage.

    Example:
        >>> attend = CoverageAttention(units=32)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [See et al., 2017](https://arxiv.org/abs/1704.04368), eq. 10 and 11.
        The authors' code masks after the softmax.
    """

    def __init__(self, units: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = arguments.optional_integer("units", units)
        dtype = self.dtype_policy
        self.score = AdditiveScore(self.units, use_bias=True, dtype=dtype)
        self.alignment = SoftmaxAlignment(dtype=dtype)

    def build_more(self, query_shape: Shape, value_shape: Shape) -> None:
        """Creates `w`."""
        self.w = self.add_weight((1, self.score.v.shape[0]), name="w")

    def initial_state(self, memory: Tensors) -> State:
        """Nothing is covered."""
        return {"coverage": zeros(memory)}

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`a_i`, and `c_{i+1}`."""
        coverage = state["coverage"]
        wc = products.by_matrix(ops.swapaxes(coverage, -1, -2), self.w)
        key = memory["key"] + ops.cast(wc, memory["key"].dtype)
        scores = self.scores(rows, {**memory, "key": key})
        portions, total = self.alignment.spread(scores, visible)
        weights = portions / total
        return weights, {"coverage": coverage + weights}
