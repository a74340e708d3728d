"""Generation of sequences, token by token, for any step function.

One loop for every strategy. It knows nothing of attention or of recurrence:
what a step needs of the past is in a state that the loop carries, and
reorders with the hypotheses. What was chosen is written down step by step,
with the hypothesis that each came from, and read backwards at the end.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attention import arguments
from keras_attention.base_layer import Tensor
from keras_attention.decoding.strategies import Hypotheses, Strategy
from keras_attention.precision import widened
from keras_attention.shapes import known_as
from keras_attention.stages import HIDDEN

#: `step(tokens, state) -> (logits, weights, state)` of `(batch * width,)`
#: tokens: logits `(batch * width, tokens)`, attention weights `(batch * width,
#: Tv)` or None.
Step = Callable[[Tensor, Any], tuple[Tensor, Tensor | None, Any]]


class Generated(NamedTuple):
    """What was generated, the best hypothesis first.

    Attributes:
        tokens: `(batch, n, L)`, without the start token; behind the end token
            there are more of it.
        lengths: `(batch, n)`, the end token among them.
        log_probs: `(batch, n)`, what the model gives to the tokens.
        scores: `(batch, n)`, what the hypotheses are ordered by.
        alignments: `(batch, n, L, Tv)`, zeros behind the end; None if the
            step has no attention.
    """

    tokens: Tensor
    lengths: Tensor
    log_probs: Tensor
    scores: Tensor
    alignments: Tensor | None


@dataclasses.dataclass(frozen=True)
class Rules:
    """What may be generated.

    Args:
        max_length: How many tokens at most, the end among them.
        start_id: The token before the first.
        end_id: The token that ends a sequence.
        min_length: How many tokens at least, the end among them.
        forbidden: Tokens that are never chosen.
    """

    max_length: int
    start_id: int
    end_id: int
    min_length: int = 0
    forbidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        arguments.integer("max_length", self.max_length)
        for name in ("start_id", "end_id", "min_length"):
            arguments.integer(name, getattr(self, name), at_least=0)
        for token in self.forbidden:
            arguments.integer("forbidden", token, at_least=0)


def generate(
    step: Step,
    state: Any,
    strategy: Strategy,
    rules: Rules,
    *,
    like: tuple[Tensor, Tensor | None],
    prefix: Tensor | None = None,
    visible: Tensor | None = None,
    noise: Tensor | None = None,
) -> Generated:
    """Generates until every hypothesis has ended.

    Args:
        step: Captures what it needs of the memory, already repeated `width`
            times for each example.
        state: A tree of tensors `(batch, ...)`, before the first step; it is
            repeated here.
        strategy: Chooses the tokens.
        rules: What may be chosen.
        like: Zeros, `(batch,)`, and, if the step gives weights, `(batch, Tv)`.
            Probabilities have the dtype of the first, or float32.
        prefix: Integers `(batch, P)` that the first tokens have to be; below
            0, any token may stand there.
        visible: `(batch, Tv)`, which places can be covered.
        noise: Uniform numbers `(max_length, batch, 1)`, where the strategy
            needs some.

    Returns:
        As many hypotheses for each example as the strategy is wide.
    """
    search = _Search(step, strategy, rules, like, prefix, noise)
    return search.run(state, visible)


def repeated(tree: Any, width: int) -> Any:
    """Every tensor `(batch, ...)` as `(batch * width, ...)`."""
    if width == 1:
        return tree
    return keras.tree.map_structure(
        lambda x: ops.repeat(x, width, axis=0), tree
    )


class _Search:
    def __init__(
        self,
        step: Step,
        strategy: Strategy,
        rules: Rules,
        like: tuple[Tensor, Tensor | None],
        prefix: Tensor | None,
        noise: Tensor | None,
    ) -> None:
        self.step = step
        self.strategy = strategy
        self.width = strategy.width
        self.rules = rules
        self.prefix = prefix
        self.noise = noise
        zeros, self.weights = like
        self.dtype = widened(zeros).dtype
        self.batch = ops.shape(zeros)[0]
        self.row = ops.zeros_like(ops.expand_dims(zeros, -1), "int32")
        self.rows = self.row + ops.zeros((1, self.width), "int32")

    def run(self, state: Any, visible: Tensor | None) -> Generated:
        """The loop, and what is read out of its notes."""
        first = {
            "token": ops.reshape(self.rows, (-1,)) + self.rules.start_id,
            "state": repeated(state, self.width),
            "hypotheses": self._first_hypotheses(visible),
            "notes": self._empty_notes(),
        }

        def is_unfinished(position: Tensor, given: Any) -> Tensor:
            finished = given["hypotheses"]["finished"]
            return ops.logical_and(
                position < self.rules.max_length,
                ops.logical_not(ops.all(finished)),
            )

        _, last = ops.while_loop(
            is_unfinished,
            lambda position, given: (
                position + 1,
                keras.tree.map_structure(
                    known_as, self._advance(position, given), given
                ),
            ),
            (ops.convert_to_tensor(0, "int32"), first),
        )
        return self._read(last["hypotheses"], last["notes"])

    def _first_hypotheses(self, visible: Tensor | None) -> dict[str, Tensor]:
        """One for each example; the others are all but impossible."""
        number = ops.arange(self.width, dtype="int32") + self.rows
        first = {
            "log_probs": ops.cast(
                ops.where(number == 0, 0.0, HIDDEN), self.dtype
            ),
            "lengths": self.rows,
            "finished": ops.zeros_like(self.rows, "bool"),
        }
        if self.strategy.needs_coverage:
            if self.weights is None:
                raise ValueError(
                    "`coverage_penalty` needs attention weights, which this "
                    "step does not give."
                )
            places = ops.expand_dims(ops.zeros_like(self.weights), 1)
            if visible is not None:  # Padding counts as covered.
                hidden = ops.logical_not(ops.expand_dims(visible, 1))
                places = places + ops.cast(hidden, places.dtype)
            first["coverage"] = ops.repeat(places, self.width, axis=1)
        return first

    def _empty_notes(self) -> dict[str, Tensor]:
        """Room for each step; what is not written stays an end token."""
        steps = ops.zeros((self.rules.max_length, 1, 1), "int32") + self.rows
        notes = {
            "token": steps + self.rules.end_id,
            "parent": steps + ops.arange(self.width, dtype="int32"),
        }
        if self.weights is not None:
            notes["weights"] = ops.zeros(
                (
                    self.rules.max_length,
                    self.batch,
                    self.width,
                    ops.shape(self.weights)[-1],
                ),
                self.weights.dtype,
            )
        return notes

    def _advance(self, position: Tensor, given: Any) -> Any:
        logits, weights, state = self.step(given["token"], given["state"])
        before = dict(given["hypotheses"])
        log_probs = self._allowed(
            self._by_example(ops.log_softmax(ops.cast(logits, self.dtype))),
            position,
            before["finished"],
        )
        if weights is not None:
            weights = ops.where(
                ops.expand_dims(before["finished"], -1),
                0.0,
                self._by_example(weights),
            )
        if "coverage" in before:
            before["coverage"] = before["coverage"] + weights
        parent, token, totals = self.strategy.choose(
            log_probs,
            Hypotheses(**before),
            None if self.noise is None else self.noise[position],
        )
        new = {"token": token, "parent": parent}
        if weights is not None:
            new["weights"] = self._from(parent, weights)
        return {
            "token": ops.reshape(token, (-1,)),
            "state": keras.tree.map_structure(
                lambda x: self._reordered(parent, x), state
            ),
            "hypotheses": self._longer(before, parent, token, totals),
            "notes": {
                name: _written(room, position, new[name])
                for name, room in given["notes"].items()
            },
        }

    def _longer(
        self,
        before: dict[str, Tensor],
        parent: Tensor,
        token: Tensor,
        totals: Tensor,
    ) -> dict[str, Tensor]:
        """The hypotheses, each its parent's with one token more."""
        after = {name: self._from(parent, x) for name, x in before.items()}
        grows = ops.logical_not(after["finished"])
        is_end = token == self.rules.end_id
        return {
            **after,
            "log_probs": totals,
            "lengths": after["lengths"] + ops.cast(grows, "int32"),
            "finished": ops.logical_or(after["finished"], is_end),
        }

    def _allowed(
        self, log_probs: Tensor, position: Tensor, finished: Tensor
    ) -> Tensor:
        """Log-probabilities of what may be chosen; `HIDDEN` elsewhere."""
        token = ops.arange(log_probs.shape[-1], dtype="int32")
        is_end = token == self.rules.end_id
        allowed = ops.logical_or(
            ops.logical_not(is_end), position + 1 >= self.rules.min_length
        )
        for forbidden in self.rules.forbidden:
            allowed = ops.logical_and(allowed, token != forbidden)
        allowed = ops.reshape(allowed, (1, 1, -1))
        if self.prefix is not None:
            allowed = self._with_prefix(allowed, token, position)
        log_probs = ops.where(allowed, log_probs, HIDDEN)
        ending = ops.where(is_end, 0.0, HIDDEN)
        return ops.where(ops.expand_dims(finished, -1), ending, log_probs)

    def _with_prefix(
        self, allowed: Tensor, token: Tensor, position: Tensor
    ) -> Tensor:
        prefix: Any = ops.cast(self.prefix, "int32")
        # Behind the prefix any token may stand.
        prefix = ops.pad(prefix, [[0, 0], [0, 1]], constant_values=-1)
        number = ops.arange(ops.shape(prefix)[1], dtype="int32")
        forced = ops.take(prefix, ops.minimum(position, number[-1]), axis=1)
        forced = ops.reshape(forced, (-1, 1, 1))
        is_due = ops.logical_and(prefix >= 0, number > position)
        may_end = ops.logical_not(ops.any(is_due, axis=1))
        may_end = ops.reshape(may_end, (-1, 1, 1))
        free = ops.logical_and(
            allowed, ops.logical_or(may_end, token != self.rules.end_id)
        )
        return ops.where(forced >= 0, token == forced, free)

    def _read(self, last: dict[str, Tensor], notes: Any) -> Generated:
        """Follows every hypothesis backwards to its first token."""
        if self.width > 1:
            notes = self._followed(notes)
        weights = notes.get("weights")
        return Generated(
            tokens=ops.moveaxis(notes["token"], 0, -1),
            lengths=last["lengths"],
            log_probs=last["log_probs"],
            scores=self.strategy.rank(Hypotheses(**last)),
            alignments=None if weights is None else ops.moveaxis(weights, 0, 2),
        )

    def _followed(self, notes: Any) -> Any:
        steps = self.rules.max_length

        def follow(done: Tensor, given: Any) -> Any:
            at, path = given
            number = steps - 1 - done
            path = {
                name: _written(
                    room, number, self._from(at, notes[name][number])
                )
                for name, room in path.items()
            }
            at = self._from(at, notes["parent"][number])
            return done + 1, keras.tree.map_structure(
                known_as, (at, path), given
            )

        last = self.rows + ops.arange(self.width, dtype="int32")
        rooms = {
            name: ops.zeros_like(room)
            for name, room in notes.items()
            if name != "parent"
        }
        _, (_, path) = ops.while_loop(
            lambda done, _given: done < steps,
            follow,
            (ops.convert_to_tensor(0, "int32"), (last, rooms)),
        )
        return path

    def _by_example(self, x: Tensor) -> Tensor:
        """`(batch * width, n)` as `(batch, width, n)`."""
        return ops.reshape(x, (-1, self.width, ops.shape(x)[-1]))

    def _from(self, parent: Tensor, x: Tensor) -> Tensor:
        """`x`, `(batch, width, ...)`, of each hypothesis' parent."""
        if self.width == 1:
            return x
        ones = [1] * (len(x.shape) - 2)
        index = ops.reshape(parent, (-1, self.width, *ones))
        return ops.take_along_axis(x, index, axis=1)

    def _reordered(self, parent: Tensor, x: Tensor) -> Tensor:
        """A state, `(batch * width, ...)`, of each hypothesis' parent."""
        if self.width == 1:
            return x
        first = ops.arange(self.batch, dtype="int32") * self.width
        index = ops.expand_dims(first, -1) + parent
        return ops.take(x, ops.reshape(index, (-1,)), axis=0)


def _written(room: Tensor, position: Tensor, new: Tensor) -> Tensor:
    return ops.slice_update(
        room,
        [position, *[0] * (len(room.shape) - 1)],
        ops.expand_dims(ops.cast(new, room.dtype), 0),
    )
