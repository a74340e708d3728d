"""Attention with a state between queries, which no package on Keras 3 has.

Written from the papers: what a query needs of the one before goes along in a
`keras.layers.RNN`, everything else is done for all queries at once. What every
query needs is a state that stays as it is, as Keras 3 has no constants of an
RNN. Each function returns two models with the same weights, ours and the naive
one.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import layers, ops

import keras_attention as ka
from benchmarks.cases import Size
from benchmarks.peers_naive import Pair, dense, pair, sequences

Step = Callable[[Any, list[Any]], tuple[Any, list[Any]]]


class Cell(keras.Layer):
    """`step(row, states)`, which returns an output and the new states.

    Args:
        step: A function.
        output_size: The last axis of an output.
        state_size: The last axis of each state.
    """

    def __init__(
        self, step: Step, output_size: int, state_size: list[int]
    ) -> None:
        super().__init__()
        self.step = step
        self.output_size, self.state_size = output_size, state_size

    def call(self, row: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """One step."""
        return self.step(row, states)


def loop(step: Step, output_size: int, *state_size: int) -> keras.Layer:
    """Keras's loop over the rows of a sequence; see `Cell`."""
    cell = Cell(step, output_size, list(state_size))
    return layers.RNN(cell, return_sequences=True)


def nothing(value: Any) -> Any:
    """0 for each place, `(batch, Tv)`."""
    return ops.zeros_like(value[..., 0])


def log_start(value: Any) -> Any:
    """The logarithm of 1 for the first place, of 0 for all others."""
    return nothing(value) - 1e9 * (1 - ops.one_hot(0, value.shape[1]))


class Coverage(keras.Layer):
    """Additive attention; the sum of all weights so far is a state."""

    def build(self, query_shape: Any, value_shape: Any) -> None:
        """Creates `w`, `W`, `U`, `v` and `b`."""
        units = query_shape[-1]
        self.w = self.add_weight((1, units))
        self.W = self.add_weight((units, units))
        self.U = self.add_weight((units, units))
        self.v = self.add_weight((units, 1))
        self.b = self.add_weight((units,))
        self.loop = loop(self.step, value_shape[1], value_shape[1], units)

    def call(self, query: Any, value: Any) -> Any:
        """The contexts, `(batch, Tq, dim)`."""
        states = [nothing(value), ops.matmul(value, self.U)]
        weights = self.loop(ops.matmul(query, self.W), initial_state=states)
        return ops.matmul(weights, value)

    def step(self, query: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """The weights of one query."""
        coverage, keys = states
        wc = ops.expand_dims(coverage, -1) * self.w
        hidden = ops.tanh(ops.expand_dims(query, 1) + keys + wc + self.b)
        weights = ops.softmax(ops.squeeze(ops.matmul(hidden, self.v), -1))
        return weights, [coverage + weights, keys]


def coverage(size: Size) -> Pair:
    """The scores are made in the loop: they depend on the coverage."""
    given = sequences(size)
    return pair(given, ka.CoverageAttention()(*given), Coverage()(*given))


def intra_temporal(size: Size) -> Pair:
    """The sums over earlier queries are cumulated sums: there is no loop."""
    query, value = given = sequences(size)
    ours = ka.IntraTemporalAttention()(query, value)
    scores = layers.Dot((2, 2))([dense(size.dim)(query), value])
    exponentials = ops.exp(scores)
    sums = ops.cumsum(exponentials, axis=1)[:, :-1]
    before = ops.pad(sums, [[0, 0], [1, 0], [0, 0]], constant_values=1)
    portions = exponentials / before
    weights = portions / ops.sum(portions, axis=-1, keepdims=True)
    return pair(given, ours, layers.Dot((2, 1))([weights, value]))


class AdditiveSum(keras.Layer):
    """`v . tanh(W q + U k)` of every query and key."""

    def build(self, query_shape: Any, key_shape: Any) -> None:
        """Creates `W`, `U` and `v`."""
        units = query_shape[-1]
        self.W = self.add_weight((units, units))
        self.U = self.add_weight((key_shape[-1], units))
        self.v = self.add_weight((units, 1))

    def call(self, query: Any, key: Any) -> Any:
        """The scores, `(batch, Tq, Tv)`."""
        Wq = ops.expand_dims(ops.matmul(query, self.W), 2)
        Uk = ops.expand_dims(ops.matmul(key, self.U), 1)
        return ops.squeeze(ops.matmul(ops.tanh(Wq + Uk), self.v), -1)


def forward(size: Size) -> Pair:
    """All scores, then a loop over their rows, with logarithms.

    With products of weights the gradient is NaN at 256 steps.
    """
    query, value = given = sequences(size)
    ours = ka.ForwardAttention()(query, value)
    log_y = ops.log_softmax(AdditiveSum()(query, value))
    states = [log_start(value)]
    log_weights = loop(_stay_or_move, size.steps, size.steps)(
        log_y, initial_state=states
    )
    weights = ops.exp(log_weights)
    return pair(given, ours, layers.Dot((2, 1))([weights, value]))


def _stay_or_move(log_y: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    even = 0.0  # Any number: a softmax does not notice it.
    log_weights = _moved_on(log_y, states[0], even, even)
    return log_weights, [log_weights]


def _moved_on(log_y: Any, before: Any, log_stay: Any, log_move: Any) -> Any:
    """The logarithms of the weights of one query, `(batch, Tv)`."""
    one_on = ops.pad(before[:, :-1], [[0, 0], [1, 0]], constant_values=-1e9)
    prior = ops.logaddexp(log_stay + before, log_move + one_on)
    return ops.log_softmax(prior + log_y)


class ForwardWithAgent(keras.Layer):
    """Forward attention; how likely it moves on depends on what was read."""

    def build(self, query_shape: Any, value_shape: Any) -> None:
        """Creates `w` and `b`, and the score."""
        _batch, steps, dim = value_shape
        self.w = self.add_weight((dim + query_shape[-1], 1))
        self.b = self.add_weight((1,))
        self.score = AdditiveSum()
        self.score.build(query_shape, value_shape)
        self.loop = loop(self.step, dim, steps, 1, dim)

    def call(self, query: Any, value: Any) -> Any:
        """The contexts, `(batch, Tq, dim)`."""
        log_y = ops.log_softmax(self.score(query, value))
        rows = ops.concatenate([log_y, query], axis=-1)
        even = ops.zeros_like(value[:, 0, :1])
        return self.loop(rows, initial_state=[log_start(value), even, value])

    def step(self, row: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """The context of one query; the logit of `u` is for the next one."""
        before, logit, value = states
        log_y, query = ops.split(row, [value.shape[1]], axis=-1)
        stay, move = ops.log_sigmoid(-logit), ops.log_sigmoid(logit)
        log_weights = _moved_on(log_y, before, stay, move)
        context = ops.einsum("bj,bjd->bd", ops.exp(log_weights), value)
        both = ops.concatenate([context, query], axis=-1)
        logit = ops.matmul(both, self.w) + self.b
        return context, [log_weights, logit, value]


def forward_agent(size: Size) -> Pair:
    """As `forward`; the loop also reads, and learns when to move on."""
    given = sequences(size)
    ours = ka.ForwardAttention(transition_agent=True)(*given)
    return pair(given, ours, ForwardWithAgent()(*given))


def forward_mask(size: Size) -> Pair:
    """All scores, then a loop over their rows with the last favourite."""
    query, value = given = sequences(size)
    ours = ka.ForwardMaskAttention()(query, value)
    scores = AdditiveSum()(query, value)
    states = [nothing(value)[:, :1]]
    weights = loop(_from_favourite, size.steps, 1)(scores, initial_state=states)
    return pair(given, ours, layers.Dot((2, 1))([weights, value]))


def _from_favourite(scores: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    (before,) = states
    places = ops.arange(scores.shape[-1], dtype=before.dtype)
    weights = ops.softmax(ops.where(places >= before, scores, -1e9))
    favourite = ops.argmax(weights, axis=-1, keepdims=True)
    return weights, [ops.cast(favourite, before.dtype)]
