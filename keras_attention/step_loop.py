"""One function over the steps of a sequence, a state going along.

On TensorFlow the gradient is written out as a second loop, from the last step
to the first, in which each step is computed again: only the states are kept.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.precision import widened
from keras_attention.shapes import known, known_as
from keras_attention.written_gradients import (
    gradient_of,
    is_real,
    loop,
    merged,
)

Function = Callable[[Any, Any, Any], tuple[Any, Any]]


def over(
    function: Function, like: Any, state: Any, rows: Any, whole: Any
) -> tuple[Any, Any]:
    """`function(state, row, whole) -> (output, state)`, step by step.

    Args:
        function: Captures no tensor that has a gradient. The new state has
            the shapes and dtypes of the old one.
        like: A tree of tensors, real ones, shaped as the outputs of a step.
        state: A tree of tensors, before the first step.
        rows: A tree of tensors `(T, ...)`; each step gets `(...)` of them.
        whole: A tree of tensors that every step needs whole.

    Returns:
        The outputs, a tree of tensors `(T, ...)`, and the last state.
    """
    if keras.backend.backend() != "tensorflow":
        end, outputs = ops.scan(
            lambda state, row: function(state, row, whole)[::-1], state, rows
        )
        return outputs, end
    return _Loop(function, like, state, rows, whole).run()


class _Loop:
    """The loop, with flat lists of tensors in place of trees."""

    def __init__(
        self, function: Function, like: Any, state: Any, rows: Any, whole: Any
    ) -> None:
        self.function = function
        self.like = like
        self.trees = (state, rows, whole)
        self.state, self.rows, self.whole = map(keras.tree.flatten, self.trees)
        self.steps = ops.shape(self.rows[0])[0]

    def run(self) -> tuple[Any, Any]:
        """The outputs and the last state."""
        if isinstance(self.steps, int) and self.steps == 0:
            # XLA refuses to look into what has no steps.
            return (
                keras.tree.map_structure(self._room, self.like),
                self.trees[0],
            )
        tensors = [*self.state, *self.rows, *self.whole]

        @ops.custom_gradient
        def looped(*real: Tensor) -> tuple[list[Tensor], Callable[..., Any]]:
            # Else an eager tape keeps what the steps compute in between.
            fixed = [ops.stop_gradient(x) for x in real]
            outputs, kept, end = self._forward(
                *self._apart(merged(tensors, fixed))
            )

            def gradient(*upstream: Tensor) -> list[Tensor]:
                _state, rows, whole = self._apart(merged(tensors, real))
                count = len(outputs)
                of_end = [
                    slope
                    for slope, x in zip(upstream[count:], end, strict=True)
                    if is_real(x)
                ]
                return self._backward(
                    kept, rows, whole, list(upstream[:count]), of_end
                )

            return [*outputs, *end], gradient

        results = list(looped(*filter(is_real, tensors)))
        count = len(results) - len(self.state)
        pack = keras.tree.pack_sequence_as
        return (
            pack(self.like, results[:count]),
            pack(self.trees[0], results[count:]),
        )

    def _apart(self, tensors: list[Tensor]) -> tuple[list[Tensor], ...]:
        states = len(self.state)
        rows = states + len(self.rows)
        return tensors[:states], tensors[states:rows], tensors[rows:]

    def _step(self, tensors: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """The outputs and the new state, of states, rows and whole tensors."""
        outputs, state = self.function(
            *map(keras.tree.pack_sequence_as, self.trees, self._apart(tensors))
        )
        return keras.tree.flatten(outputs), keras.tree.flatten(state)

    def _forward(
        self, state: list[Tensor], rows: list[Tensor], whole: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """The outputs, the states before each step, and the last state."""

        def step(number: Tensor, given: Any) -> tuple[Tensor, Any]:
            outputs, kept, state = given
            new, after = self._step([*state, *_at(rows, number), *whole])
            return number + 1, (
                _put(outputs, number, new),
                _put(kept, number, state),
                [known_as(x, y) for x, y in zip(after, state, strict=True)],
            )

        outputs = [self._room(x) for x in keras.tree.flatten(self.like)]
        kept = [self._room(x) for x in state]
        results: Any = loop(step, self.steps, (outputs, kept, state))
        outputs, kept, state = results
        return outputs, kept, state

    def _backward(
        self,
        kept: list[Tensor],
        rows: list[Tensor],
        whole: list[Tensor],
        of_outputs: list[Tensor],
        of_state: list[Tensor],
    ) -> list[Tensor]:
        """The gradients of the first state, the rows and the whole tensors.

        Args:
            kept: The states before each step.
            rows: Of all steps.
            whole: As of the loop.
            of_outputs: The gradients of the outputs, of all steps.
            of_state: The gradients of the real tensors of the last state.
        """

        def step(done: Tensor, given: Any) -> tuple[Tensor, Any]:
            of_state, of_rows, of_whole = given
            number = self.steps - 1 - done
            tensors = [*_at(kept, number), *_at(rows, number), *whole]

            def real_results(real: list[Tensor]) -> list[Tensor]:
                outputs, state = self._step(merged(tensors, real))
                return [*outputs, *filter(is_real, state)]

            new = gradient_of(
                real_results,
                list(filter(is_real, tensors)),
                [*_at(of_outputs, number), *of_state],
            )
            states, steps = len(of_state), len(of_state) + len(of_rows)
            return done + 1, (
                [known_as(x, y) for x, y in zip(new, of_state, strict=False)],
                _put(of_rows, number, new[states:steps]),
                [
                    known_as(total + widened(x), total)
                    for total, x in zip(of_whole, new[steps:], strict=True)
                ],
            )

        of_rows = [ops.zeros_like(x) for x in filter(is_real, rows)]
        sources = list(filter(is_real, whole))
        of_whole = [ops.zeros_like(widened(x)) for x in sources]
        results: Any = loop(step, self.steps, (of_state, of_rows, of_whole))
        of_state, of_rows, of_whole = results
        totals = [
            ops.cast(total, x.dtype)
            for total, x in zip(of_whole, sources, strict=True)
        ]
        return [*of_state, *of_rows, *totals]

    def _room(self, x: Tensor) -> Tensor:
        """Zeros for one `x` of each step."""
        room = ops.zeros((self.steps, *ops.shape(x)), x.dtype)
        return known(room, (None, *x.shape))


def _at(tensors: list[Tensor], number: Tensor) -> list[Tensor]:
    return [x[number] for x in tensors]


def _put(
    rooms: list[Tensor], number: Tensor, new: list[Tensor]
) -> list[Tensor]:
    return [
        known_as(
            ops.slice_update(
                room,
                [number, *[0] * (len(room.shape) - 1)],
                ops.expand_dims(ops.cast(x, room.dtype), 0),
            ),
            room,
        )
        for room, x in zip(rooms, new, strict=True)
    ]
