"""Forward attention (Zhang et al., 2018)."""

from typing import Any

from keras import ops

from keras_attention import arguments, masks, products, stages
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.precision import widened
from keras_attention.recurrent_alignment import RecurrentAlignment
from keras_attention.recurrent_attention import start, zeros
from keras_attention.serialization import export
from keras_attention.stages import Score
from keras_attention.stepwise import State


@export
class ForwardAttention(RecurrentAlignment):
    """Softmax attention that at each step stays or moves on by one place.

        y_i     = softmax(e_i)
        a'_ij   = ((1 - u_{i-1}) a_{i-1,j} + u_{i-1} a_{i-1,j-1}) y_ij
        a_i     = a'_i / sum_j a'_ij,     a_0 = (1, 0, ..., 0)
        u_i     = sigmoid(w . [c_i; q_i] + b),     u_0 = 1/2

    Without the transition agent, `u` is 1/2 throughout: staying and moving
    are then equally likely before the scores are seen.

    Args:
        score: A `Score` or its name.
        transition_agent: Whether `u` is learned.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.

    Call arguments and Returns: as `BahdanauAttention`, without
        `use_causal_mask`. A padded query does not move on.

    Example:
        >>> attend = ForwardAttention(transition_agent=True)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Zhang et al., 2018](https://arxiv.org/abs/1807.06736), algorithms 1
        and 2. In the paper the agent has a hidden layer and also sees the
        decoder's output.
    """

    def __init__(
        self,
        score: Score | str = "additive",
        transition_agent: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.transition_agent = arguments.boolean(
            "transition_agent", transition_agent
        )
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)

    def build_more(self, query_shape: Shape, value_shape: Shape) -> None:
        """Creates `w` and `b` of the transition agent."""
        if self.transition_agent:
            size: Any = value_shape[-1] + query_shape[-1]  # type: ignore
            self.w = self.add_weight((size, 1), name="w")
            self.b = self.add_weight((1,), "zeros", name="b")

    def initial_state(self, memory: Tensors) -> State:
        """`a_0` and, of the agent, `u_0`."""
        state = {"weights": start(memory)}
        if self.transition_agent:
            state["u"] = ops.sum(zeros(memory), -1, keepdims=True) + 0.5
        return state

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`a_i` with `u_{i-1}`, and `u_i`."""
        prior = stay_or_move(state["weights"], state.get("u", 0.5))
        scores = rows["scores"]
        # A product of weights, as a sum of scores: nothing underflows.
        is_near = ops.logical_not(prior <= 0)  # NaN is not far.
        log_prior = ops.log(ops.where(is_near, prior, 1.0))
        portions, total = self.alignment.spread(
            scores + log_prior, masks.every(visible, is_near)
        )
        weights = portions / total
        new = {"weights": weights}
        if self.transition_agent:
            context = self.reading(rows, memory, weights)
            new["u"] = self._moves_on(context, widened(rows["query"]))
        return weights, new

    def _moves_on(self, context: Tensor, query: Tensor) -> Tensor:
        """`u_i`."""
        seen = ops.concatenate([context, query], axis=-1)
        product = products.by_matrix(seen, widened(self.w))
        return ops.sigmoid(product + widened(self.b))


def stay_or_move(before: Tensor, u: Tensor | float) -> Tensor:
    """`(1 - u) a_j + u a_{j-1}` of `a`, `(..., Tv)`."""
    ends = [[0, 0]] * (len(before.shape) - 1)
    moved = ops.pad(before, [*ends, [1, 0]])[..., :-1]
    return (1.0 - u) * before + u * moved
