"""One step of a loop as a graph, in which its products of rows are seen.

A product `x W` of a row for each example with a weight is most of what a
recurrent step takes. Seen in the step's graph, its result can be kept from the
forward loop to the backward one, which then need not multiply again; and the
gradient `x^T y` of the weight need not be added up step by step, but is one
product behind the loop, of the rows of all steps. TensorFlow only.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.graph_parts import Graph, Part, traced
from keras_attention.precision import widened
from keras_attention.products import first_transposed
from keras_attention.written_gradients import gradient_of, is_real, merged

Step = Callable[[list[Tensor]], tuple[list[Tensor], list[Tensor]]]


class Slopes:
    """The gradients of one step, by real tensors.

    Args:
        function: Of states, rows and whole tensors to outputs and new states.
        states: How many of the states are real.
        rows: How many of the rows are.
    """

    def __init__(self, function: Step, states: int, rows: int) -> None:
        self.function = function
        self.states = states
        self.rows = rows
        self.are_products: list[bool] = []  # Of each of the whole tensors.

    def graph(
        self, tensors: list[Tensor], upstream: list[Tensor]
    ) -> Callable[..., Any]:
        """With the products of rows as a third argument, a list.

        Returns:
            To the gradients of the states; those of whole tensors, without
            what `in_order` makes of the factors; and, to be kept of each step,
            those of the rows and the factors.
        """
        products: list[Tensor] = []

        def gradients(tensors: list[Tensor], upstream: list[Tensor]) -> Any:
            def real_results(real: list[Tensor]) -> list[Tensor]:
                outputs, state = self.function(merged(tensors, real))
                products.extend(products_so_far())
                return [*outputs, *filter(is_real, state)]

            sources = list(filter(is_real, tensors))
            return self._apart(gradient_of(real_results, sources, upstream))

        return with_given(traced(gradients, tensors, upstream), products)

    def _apart(
        self, new: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        of_step = new[self.states :][: self.rows]
        of_whole = []
        for x in new[self.states + self.rows :]:
            factors = factors_of(x)
            self.are_products.append(bool(factors))
            of_step += factors
            of_whole += [] if factors else [widened(x)]
        return new[: self.states], of_whole, of_step

    def in_order(
        self, totals: list[Tensor], of_steps: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The gradients of the rows and of the whole tensors, of all steps."""
        factors = iter(of_steps[self.rows :])
        sums = iter(totals)
        return of_steps[: self.rows], [
            product_of_rows(next(factors), next(factors))
            if is_product
            else next(sums)
            for is_product in self.are_products
        ]


def products_so_far() -> list[Tensor]:
    """The results of all products of rows in the graph that is being made."""
    import tensorflow as tf

    operations = tf.compat.v1.get_default_graph().get_operations()
    return [op.outputs[0] for op in operations if _multiplies_rows(op)]


def factors_of(gradient: Tensor) -> list[Tensor]:
    """The rows `x` and `y` of a gradient `x^T y`; of another, nothing."""
    op = gradient.op
    while op.type in ("Identity", "Cast"):
        op = op.inputs[0].op
    if not _multiplies_rows(op):
        return []
    are_transposed = [op.get_attr(f"transpose_{x}") for x in "ab"]
    return list(op.inputs) if are_transposed == [True, False] else []


def product_of_rows(x: Tensor, y: Tensor) -> Tensor:
    """`x^T y` of the rows of all steps: `(..., m), (..., n) -> (m, n)`."""
    x, y = (widened(ops.reshape(x, (-1, x.shape[-1]))) for x in (x, y))
    return first_transposed(x, y)


def with_given(graph: Graph, tensors: list[Tensor]) -> Callable[..., Any]:
    """`graph` with some of its inner tensors given, as a list behind the rest.

    What they were made of is not computed, unless something else needs it.
    """
    part = Part(graph, [*graph.inputs, *tensors], graph.outputs)

    def run(*args: Any) -> Any:
        flat = keras.tree.flatten(args)
        found = part(*(flat[i] for i in part.places))
        return keras.tree.pack_sequence_as(graph.structured_outputs, found)

    captured = graph.captured_inputs
    inputs, _ = graph.structured_input_signature
    result = traced(run, *inputs, captured, tensors)
    return lambda *args: result(*args[:-1], captured, args[-1])


def _multiplies_rows(op: Any) -> bool:
    """Whether two matrices are multiplied that are not reshaped from more.

    So no table of pairs, nor keys: they are of another size than the states.
    """
    return op.type == "MatMul" and all(
        x.op.type != "Reshape" for x in op.inputs
    )
