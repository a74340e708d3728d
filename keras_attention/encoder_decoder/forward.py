"""Forward attention (Zhang et al., 2018)."""

from typing import Any

from keras import ops

from keras_attention import arguments, masks, products, stages
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.precision import widened
from keras_attention.recurrent_alignment import (
    RecurrentAlignment,
    log_of_sum,
)
from keras_attention.recurrent_attention import start, zeros
from keras_attention.serialization import export
from keras_attention.stages import HIDDEN, Score
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
        """`log a_0` and, of the agent, what `u_0` is the sigmoid of."""
        is_first = start(memory) > 0
        state = {"log_weights": ops.where(is_first, zeros(memory), HIDDEN)}
        if self.transition_agent:
            state["move"] = ops.sum(zeros(memory), axis=-1, keepdims=True)
        return state

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`a_i` with `u_{i-1}`, and `log a_i`, up to a constant, and `u_i`."""
        before = state["log_weights"]
        prior = stay_or_move(
            before, state.get("move", ops.zeros_like(before[..., :1]))
        )
        is_near = ops.logical_not(prior <= HIDDEN / 2)  # NaN is not far.
        scores = rows["scores"] + ops.where(is_near, prior, 0.0)
        near: Any = masks.every(visible, is_near)
        portions, total = self.alignment.spread(scores, near)
        weights = portions / total
        new = {"log_weights": below_largest(scores, near)}
        if self.transition_agent:
            context = self.reading(rows, memory, weights)
            new["move"] = self._move(context, widened(rows["query"]))
        return weights, new

    def _move(self, context: Tensor, query: Tensor) -> Tensor:
        """`w . [c_i; q_i] + b`."""
        seen = ops.concatenate([context, query], axis=-1)
        return products.by_matrix(seen, widened(self.w)) + widened(self.b)


def stay_or_move(before: Tensor, move: Tensor) -> Tensor:
    """The logarithm of `(1 - u) a_j + u a_{j-1}`, with `u = sigmoid(move)`.

    Weights would underflow where it takes many steps to get to.

    Args:
        before: `log a`, `(..., Tv)`.
        move: `(..., 1)`.
    """
    ends = [[0, 0]] * (len(before.shape) - 1)
    moved = ops.pad(before, [*ends, [1, 0]], constant_values=HIDDEN)[..., :-1]
    return log_of_sum(
        before + ops.log_sigmoid(-move), moved + ops.log_sigmoid(move)
    )


def below_largest(scores: Tensor, near: Tensor) -> Tensor:
    """Scores from the largest one down; what is not near is `HIDDEN`."""
    near_scores = ops.where(near, scores, HIDDEN)
    largest = ops.max(near_scores, axis=-1, keepdims=True, initial=HIDDEN)
    below = scores - ops.stop_gradient(largest)
    return ops.where(near, below, HIDDEN)
