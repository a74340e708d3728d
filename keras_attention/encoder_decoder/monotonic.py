"""Monotonic attention (Raffel et al., 2017)."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments, masks, stages, weight_dropout
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.precision import widened
from keras_attention.recurrent_alignment import RecurrentAlignment
from keras_attention.recurrent_attention import start
from keras_attention.serialization import export
from keras_attention.stages import Score
from keras_attention.stepwise import State

MODES = ("soft", "hard")

#: Doublings while a length is unknown: enough for 65,536 places.
DOUBLINGS = 16


@export
class MonotonicAttention(RecurrentAlignment):
    """Reads from left to right: at each place it stops or moves on.

        p_ij = sigmoid(e_ij + r)                            stop here?
        q_ij = (1 - p_{i,j-1}) q_{i,j-1} + a_{i-1,j}        having come here
        a_ij = p_ij q_ij,     a_0 = (1, 0, ..., 0)

    That is the mode "soft", an expectation, to train with. In the mode "hard"
    a query goes on from the place where the last one stopped, to the first
    with `e_ij + r > 0`; if there is none, it reads zeros, and the next query
    starts from the same place.

    The weights of a query may sum to less than 1: reading may run off the
    end. Without divisions, `q` is the recursion to the last bit of rounding
    for any length, where a closed form by cumulated products is not.

    Args:
        score: A `Score` or its name.
        mode: `"soft"` or `"hard"`.
        initial_bias: What `r` starts at; below 0, such as -4, for long
            memories.
        score_noise: Standard deviation of the noise that is added to `e_ij`
            in training, so that `p_ij` learns to be near 0 or 1.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`. `seed` is the noise's too.

    Call arguments and Returns: as `BahdanauAttention`, without
        `use_causal_mask`. A padded query does not move on.

    Example:
        >>> attend = MonotonicAttention(score_noise=1.0)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Raffel et al., 2017](https://arxiv.org/abs/1704.00784), eq. 9 to 16.
        In TensorFlow Addons' mode "hard", all later weights are 0 after a
        query that stops nowhere; its mode "parallel" is the closed form.
    """

    def __init__(
        self,
        score: Score | str = "normalized_additive",
        mode: str = "soft",
        *,
        initial_bias: float = 0.0,
        score_noise: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.mode = arguments.choice("mode", mode, MODES)
        self.initial_bias = arguments.number("initial_bias", initial_bias)
        self.score_noise = arguments.number("score_noise", score_noise, 0.0)

    def build_more(self, query_shape: Shape, value_shape: Shape) -> None:
        """Creates `r`."""
        initial = keras.initializers.Constant(self.initial_bias)
        self.r = self.add_weight((), initial, name="r")

    def is_random(self) -> bool:
        """Dropout or noise."""
        return self.dropout > 0 or self.score_noise > 0

    def initial_state(self, memory: Tensors) -> State:
        """`a_0`: reading begins at the first visible place."""
        return {"from": start(memory)}

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """`a_i`, and where reading goes on."""
        scores = rows["scores"] + widened(self.r)
        if "noise" in memory and self.score_noise:
            places = ops.arange(ops.shape(scores)[-1], dtype="int32")
            # Not the bits that decide about dropout.
            noise = weight_dropout.normal(
                memory["noise"] + 1, rows["position"], places
            )
            scores = scores + self.score_noise * noise
        if self.mode == "hard":
            return self._stop(scores, visible, state["from"])
        # Not of HIDDEN: LiteRT's sigmoid for AVX-512 gives NaN so far out.
        p = ops.sigmoid(masks.where(visible, scores, 0.0))
        p = masks.where(visible, p, 0.0)
        weights = expected_stop(p, state["from"])
        return weights, {"from": weights}

    def _stop(
        self, scores: Tensor, visible: Tensor | None, before: Tensor
    ) -> tuple[Tensor, State]:
        stops = ops.cast(scores > 0, scores.dtype)
        stops = masks.poison(stops, ops.isnan(scores))
        weights = first_stop(masks.where(visible, stops, 0.0), before)
        has_stopped = ops.any(weights > 0, axis=-1, keepdims=True)
        return weights, {"from": ops.where(has_stopped, weights, before)}


def expected_stop(p: Tensor, before: Tensor) -> Tensor:
    """`a_i` of `p_i` and `a_{i-1}`, `(..., Tv)`, in the mode "soft".

    The recursion `q_j = m_j q_{j-1} + b_j` by doubling: after `n` rounds each
    `b_j` has what came from up to `2^n` places before.
    """
    moves, arrived = _moved(1.0 - p, 1), before
    for n in range(_doublings(p.shape[-1])):
        arrived = arrived + moves * _moved(arrived, 2**n)
        moves = moves * _moved(moves, 2**n)
    return p * arrived


def first_stop(stops: Tensor, before: Tensor) -> Tensor:
    """`a_i` of `p_i` in {0, 1} and the place before, in the mode "hard"."""
    reachable = stops * ops.cumsum(before, axis=-1)
    return reachable * ops.cast(
        ops.cumsum(reachable, axis=-1) == 1.0, reachable.dtype
    )


def _moved(x: Tensor, places: int) -> Tensor:
    """`x` some places to the right, zeros at the left."""
    if x.shape[-1] is not None:
        ends = [[0, 0]] * (len(x.shape) - 1)
        return ops.pad(x, [*ends, [places, 0]])[..., : x.shape[-1]]
    source = ops.arange(ops.shape(x)[-1], dtype="int32") - places
    moved = ops.take(x, ops.maximum(source, 0), axis=-1)
    return ops.where(source >= 0, moved, 0.0)


def _doublings(steps: int | None) -> int:
    return DOUBLINGS if steps is None else max(steps - 1, 0).bit_length()
