"""One function over the steps of a sequence, a state going along.

On TensorFlow the gradient is written out as a second loop, from the last step
to the first, in which each step is computed again: only the states and the
products of rows (see `step_graph`) are kept.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import graph_parts, step_graph
from keras_attention.base_layer import Tensor
from keras_attention.shapes import known
from keras_attention.written_gradients import (
    copied,
    gradient_of,
    is_real,
    merged,
    recorded,
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
            nothing = keras.tree.map_structure(_of_no_steps, self.like)
            return nothing, self.trees[0]
        if isinstance(self.steps, int) and self.steps == 1:
            return self._once()
        tensors = [*self.state, *self.rows, *self.whole]

        @ops.custom_gradient
        def looped(*real: Tensor) -> tuple[list[Tensor], Callable[..., Any]]:
            # Else an eager tape keeps what the steps compute in between.
            fixed = [ops.stop_gradient(x) for x in real]
            outputs, kept, end = self._forward(
                *self._apart(merged(tensors, fixed))
            )

            def gradient(*upstream: Tensor) -> Any:
                slopes = [
                    slope
                    for slope, x in zip(upstream, [*outputs, *end], strict=True)
                    if is_real(x)
                ]
                return self._slopes(tensors, kept, list(real), slopes)

            return [*outputs, *end], gradient

        results = list(looped(*filter(is_real, tensors)))
        count = len(results) - len(self.state)
        pack = keras.tree.pack_sequence_as
        return (
            pack(self.like, results[:count]),
            pack(self.trees[0], results[count:]),
        )

    def _once(self) -> tuple[Any, Any]:
        """The one step, for which no loop has to start."""
        state, rows, whole = self.trees
        row = keras.tree.map_structure(lambda x: x[0], rows)
        outputs, end = self.function(state, row, whole)
        outputs = keras.tree.map_structure(
            lambda x, y: ops.expand_dims(ops.cast(x, y.dtype), 0),
            outputs,
            self.like,
        )
        return outputs, end

    def _slopes(
        self,
        tensors: list[Tensor],
        kept: Any,
        real: list[Tensor],
        upstream: list[Tensor],
    ) -> Any:
        """`_backward`, with a gradient of its own: the backend's."""
        count = len(real)
        tensors = copied(tensors)

        @ops.custom_gradient
        def slopes(*given: Tensor) -> tuple[list[Tensor], Callable[..., Any]]:
            def results(real: list[Tensor]) -> list[Tensor]:
                outputs, _kept, end = self._forward(
                    *self._apart(merged(tensors, real))
                )
                return list(filter(is_real, [*outputs, *end]))

            def first(given: list[Tensor]) -> list[Tensor]:
                return gradient_of(results, given[:count], given[count:])

            def gradient(*wanted: Tensor) -> list[Tensor]:
                return gradient_of(first, list(given), list(wanted))

            fixed = [ops.stop_gradient(x) for x in given]
            _state, rows, whole = self._apart(merged(tensors, fixed[:count]))
            outputs = len(keras.tree.flatten(self.like))
            of_outputs = fixed[count:][:outputs]
            of_end = fixed[count:][outputs:]
            return self._backward(
                kept, rows, whole, of_outputs, of_end
            ), gradient

        return slopes(*real, *copied(upstream))

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
    ) -> tuple[list[Tensor], tuple[list[Tensor], list[Tensor]], list[Tensor]]:
        """The outputs, what the backward loop needs, and the last state."""

        def with_products(
            *tensors: Tensor,
        ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
            outputs, after = self._step(list(tensors))
            return outputs, after, step_graph.products_so_far()

        first = [*state, *_zeros_of(rows), *whole]
        run = graph_parts.traced(with_products, *first)

        def step(number: Tensor, state: list[Tensor]) -> Any:
            outputs, after, products = run(*state, *_at(rows, number), *whole)
            return after, [*outputs, *state, *products]

        outputs = keras.tree.flatten(self.like)
        like = [*outputs, *state, *run(*first)[2]]
        end, found = recorded(step, self.steps, state, like)
        states = len(outputs) + len(state)
        kept = found[len(outputs) : states], found[states:]
        return found[: len(outputs)], kept, end

    def _backward(
        self,
        kept: tuple[list[Tensor], list[Tensor]],
        rows: list[Tensor],
        whole: list[Tensor],
        of_outputs: list[Tensor],
        of_state: list[Tensor],
    ) -> list[Tensor]:
        """The gradients of the first state, the rows and the whole tensors.

        Args:
            kept: The states before each step, and its products of rows.
            rows: Of all steps.
            whole: As of the loop.
            of_outputs: The gradients of the outputs, of all steps.
            of_state: The gradients of the real tensors of the last state.
        """
        states, products = kept
        first = [
            [*_zeros_of(states), *_zeros_of(rows), *whole],
            [*_zeros_of(of_outputs), *of_state],
        ]
        slopes = step_graph.Slopes(
            self._step, len(of_state), sum(map(is_real, rows))
        )
        run = slopes.graph(*first)

        def step(number: Tensor, given: Any) -> Any:
            of_state, totals = given
            of_state, of_whole, of_step = run(
                [*_at(states, number), *_at(rows, number), *whole],
                [*_at(of_outputs, number), *of_state],
                _at(products, number),
            )
            sums = [x + y for x, y in zip(totals, of_whole, strict=True)]
            return (of_state, sums), of_step

        _state, totals, like = run(*first, _zeros_of(products))
        start = (of_state, [ops.zeros_like(x) for x in totals])
        (of_state, totals), found = recorded(
            step, self.steps, start, like, backwards=True
        )
        of_rows, of_whole = slopes.in_order(totals, found)
        sources = filter(is_real, whole)
        return [
            *of_state,
            *of_rows,
            *(
                ops.cast(x, source.dtype)
                for x, source in zip(of_whole, sources, strict=True)
            ),
        ]


def _at(tensors: list[Tensor], number: Tensor) -> list[Tensor]:
    return [x[number] for x in tensors]


def _zeros_of(tensors: list[Tensor]) -> list[Tensor]:
    """In the shapes that they have at one step."""
    return [ops.zeros(ops.shape(x)[1:], x.dtype) for x in tensors]


def _of_no_steps(x: Tensor) -> Tensor:
    return known(ops.zeros((0, *ops.shape(x)), x.dtype), (0, *x.shape))
