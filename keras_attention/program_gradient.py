"""An XLA program and the one of its gradient. TensorFlow only.

TensorFlow would make the second by itself, but then the first returns whatever
the second looks at: copies of its own arguments, other shapes of them, masks
and tables of places. Here the first returns only what takes time to make, and
the second is given the arguments and makes the rest again.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras

from keras_attention.graph_parts import Graph, Part
from keras_attention.shapes import Tensor
from keras_attention.written_gradients import is_real

Function = Callable[..., Any]

#: Made again by the second program: XLA makes them where they are read.
CHEAP = frozenset(
    """
    Abs Add AddV2 BroadcastTo Cast Const DivNoNan Equal ExpandDims Fill Greater
    GreaterEqual Less LessEqual LogicalAnd LogicalNot LogicalOr Maximum Minimum
    Mul Neg NotEqual OnesLike Pack Range RealDiv Reshape Select SelectV2 Shape
    Sign Squeeze StridedSlice Sub Transpose ZerosLike
    """.split()
)


class Differentiated:
    """A function as a program, whose gradient any tape finds.

    The function is not kept, nor the layer that it is of: another that does the
    same may be called.

    Args:
        function: Of tensors, to a nested structure of tensors.
        given: Tensors of the shapes and dtypes of its arguments.
        wanted: The numbers of those that have a gradient.
    """

    def __init__(
        self, function: Function, given: list[Tensor], wanted: tuple[int, ...]
    ) -> None:
        self._wanted = wanted
        self._second_program: Any = None
        traced = _Traced(function, given, wanted)
        self._structure = traced.graph.structured_outputs
        self._results = len(traced.results)
        #: Whether it reads what it is not given; of that it has no gradient.
        self.reads_more = bool(traced.graph.captured_inputs)
        if not self.reads_more:
            self._forward, self._backward = traced.halves()

    def __call__(self, function: Function, given: list[Tensor]) -> Any:
        """What the function makes of tensors like those it was made for."""
        made = self._forward(given)
        results = made[: self._results]

        def gradient(*upstream: Tensor) -> list[Tensor | None]:
            pairs = zip(upstream, results, strict=True)
            pulls = [pull for pull, result in pairs if is_real(result)]
            slopes = self._gradient(function, given, made, pulls)
            return self._in_place(slopes, len(given))

        results = _with_gradient(results, given, gradient)
        return keras.tree.pack_sequence_as(self._structure, results)

    def _gradient(
        self,
        function: Function,
        given: list[Tensor],
        made: list[Tensor],
        upstream: list[Tensor],
    ) -> list[Tensor]:
        """The slopes, which have a gradient themselves."""

        def gradient(*new: Tensor) -> list[Tensor | None]:
            second = self._second(function, given, upstream, new)
            count = len(self._wanted)
            of_given = self._in_place(second[:count], len(given))
            return [*of_given, *second[count:]]

        slopes = self._backward([*given, *made, *upstream])
        return _with_gradient(slopes, [*given, *upstream], gradient)

    def _second(
        self,
        function: Function,
        given: list[Tensor],
        upstream: list[Tensor],
        new: Sequence[Tensor],
    ) -> list[Tensor]:
        """The gradients of the slopes, by a program that makes all anew."""
        tensors = [*given, *upstream, *new]
        ends = len(given), len(given) + len(upstream)

        def anew(*tensors: Tensor) -> list[Tensor]:
            given, upstream = tensors[: ends[0]], tensors[slice(*ends)]
            wanted = [given[i] for i in self._wanted]
            results = keras.tree.flatten(function(*given))
            slopes = _slopes(_real(results), wanted, upstream)
            return _slopes(slopes, [*wanted, *upstream], tensors[ends[1] :])

        if self._second_program is None:
            self._second_program = program(anew, tensors)
        second: list[Tensor] = self._second_program(*tensors)
        return second

    def _in_place(
        self, slopes: Sequence[Tensor], count: int
    ) -> list[Tensor | None]:
        """Of all that is given; None where no gradient is wanted."""
        found = dict(zip(self._wanted, slopes, strict=True))
        return [found.get(i) for i in range(count)]


def program(function: Function, like: Iterable[Tensor]) -> Graph:
    """`function` as an XLA program, for tensors like these."""
    import tensorflow as tf

    compiled = tf.function(function, jit_compile=True, autograph=False)
    return compiled.get_concrete_function(*like)


class _Traced:
    """A function and its gradient in one graph."""

    def __init__(
        self, function: Function, given: list[Tensor], wanted: tuple[int, ...]
    ) -> None:
        self._function = function
        self._wanted = wanted
        self.graph = program(self._both, given)

    def _both(self, *given: Tensor) -> Any:
        import tensorflow as tf

        results = keras.tree.map_structure(tf.identity, self._function(*given))
        self.results = keras.tree.flatten(results)
        graph = tf.compat.v1.get_default_graph()
        self._first = graph.get_operations()
        real = _real(self.results)
        self._upstream = [
            tf.raw_ops.Placeholder(dtype=x.dtype, shape=x.shape) for x in real
        ]
        wanted = [given[i] for i in self._wanted]
        self._slopes = _slopes(real, wanted, self._upstream)
        return results

    def halves(self) -> tuple["_Half", "_Half"]:
        """From what is given to the results and what is kept, and back.

        Back from both and the gradients of the real results, in this order.
        """
        given = self.graph.inputs
        kept = self._kept()
        made = [*self.results, *kept]
        known = [*given, *made, *self._upstream]
        return (
            _Half(self.graph, given, made),
            _Half(self.graph, known, self._slopes),
        )

    def _kept(self) -> list[Tensor]:
        """What the gradient needs of what is made before the results.

        In the order in which it is made, so that of each tensor it is settled
        whether what it is made of is at hand, from the arguments on.
        """
        at_hand = _names([*self.graph.inputs, *self.results])
        looked_at = self._looked_at()
        kept = []
        for x in _tensors(self._first):
            if x.op.type in CHEAP and _names(x.op.inputs) <= at_hand:
                at_hand.add(x.name)
            elif x.name in looked_at and x.name not in at_hand:
                kept.append(x)
                at_hand.add(x.name)
        return kept

    def _looked_at(self) -> set[str]:
        """What is made before the results and taken later."""
        first = {operation.name for operation in self._first}
        found: set[str] = set()
        seen: set[str] = set()
        left = list(self._slopes)
        while left:
            x = left.pop()
            if x.op.name in first:
                found.add(_origin(x).name)
            elif x.op.name not in seen:
                seen.add(x.op.name)
                left += x.op.inputs
        return found


class _Half:
    """A program of what a graph makes of the tensors that are `known`."""

    def __init__(
        self, graph: Graph, known: list[Tensor], results: list[Tensor]
    ) -> None:
        numbers = {_origin(x).name: i for i, x in enumerate(known)}
        tensors = _tensors(graph.graph.get_operations())
        names = [x for x in tensors if _origin(x).name in numbers]
        part = Part(graph, names, results)
        needed = [names[i] for i in part.places]
        self._needed = [numbers[_origin(x).name] for x in needed]
        self._program = program(part, needed)

    def __call__(self, known: list[Tensor]) -> list[Tensor]:
        """What it makes; no tape records how."""
        from tensorflow.python.eager import record

        needed = [known[i] for i in self._needed]
        with record.stop_recording():
            # No argument is compared with the signature, which takes time.
            made: list[Tensor] = self._program._call_flat(needed, [])
        return made


def _with_gradient(
    results: list[Tensor], given: list[Tensor], gradient: Function
) -> list[Tensor]:
    """The results, of what is given, with their gradient."""
    import tensorflow as tf
    from tensorflow.python.eager import record

    if tf.executing_eagerly():  # As below, in less time.
        record.record_operation("Program", results, given, gradient)
        return results
    known: list[Tensor] = tf.custom_gradient(
        lambda *_given: (results, gradient)
    )(*given)
    return known


def _slopes(
    results: Sequence[Tensor],
    sources: Sequence[Tensor],
    upstream: Sequence[Tensor],
) -> list[Tensor]:
    """The gradients by the sources, none of them sparse."""
    import tensorflow as tf

    slopes = tf.gradients(
        list(results),
        list(sources),
        list(upstream),
        unconnected_gradients="zero",
    )
    return [tf.convert_to_tensor(slope) for slope in slopes]


def _real(tensors: Iterable[Tensor]) -> list[Tensor]:
    return list(filter(is_real, tensors))


def _tensors(operations: list[Any]) -> list[Tensor]:
    return [x for operation in operations for x in operation.outputs]


def _names(tensors: Iterable[Tensor]) -> set[str]:
    return {_origin(x).name for x in tensors}


def _origin(x: Tensor) -> Tensor:
    """What a tensor is only another name of."""
    while x.op.type in ("Identity", "IdentityN", "StopGradient"):
        x = x.op.inputs[x.value_index]
    return x
