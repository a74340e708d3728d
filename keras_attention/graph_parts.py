"""Parts of a traced graph as functions of their own. TensorFlow only."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention.shapes import Tensor

Graph = Any  # A concrete function of TensorFlow.


def traced(function: Callable[..., Any], *like: Any) -> Graph:
    """`function` as a graph, for tensors of the shapes of `like`."""
    import tensorflow as tf

    specs = keras.tree.map_structure(
        lambda x: tf.TensorSpec(x.shape, x.dtype), like
    )
    graph = tf.function(function, autograph=False)
    return graph.get_concrete_function(*specs)


class Part:
    """What a graph makes of some of its tensors.

    What these were made of is not computed, unless something else needs it.

    Args:
        graph: A graph.
        given: Tensors of the graph, also inner ones.
        results: Tensors of the graph.
    """

    def __init__(
        self, graph: Graph, given: list[Tensor], results: list[Tensor]
    ) -> None:
        names = [x.name for x in given]
        self._results = [x.name for x in results]
        self._definition, self._read = _pruned(
            graph.graph.as_graph_def(), self._results, names
        )
        used = {*self._read, *self._results}
        #: The numbers of the given tensors that the results need.
        self.places = [i for i, name in enumerate(names) if name in used]
        self._given = [names[i] for i in self.places]

    def __call__(self, *tensors: Tensor) -> list[Tensor]:
        """The results, of tensors in the places of those that they need."""
        import tensorflow as tf

        known = dict(zip(self._given, tensors, strict=True))
        rest = [name for name in self._results if name not in known]
        made = tf.graph_util.import_graph_def(
            self._definition,
            input_map={name: known[name] for name in self._read},
            return_elements=rest,
            name="",
        )
        known |= zip(rest, made, strict=True)
        return [known[name] for name in self._results]


def _pruned(
    definition: Any, results: list[str], given: list[str]
) -> tuple[Any, set[str]]:
    """What the results need, and which of the given tensors that reads.

    Without the graph's own inputs, of which XLA knows nothing, nor the order
    that TensorFlow asks for by naming a node `^node`: steps are pure functions.
    """
    nodes = {node.name: node for node in definition.node}
    needed = type(definition)(
        library=definition.library, versions=definition.versions
    )
    stops = set(given)
    seen: set[str] = set()
    read: set[str] = set()
    left = [name for name in results if name not in stops]
    while left:
        name = left.pop().partition(":")[0]
        if name in seen:
            continue
        seen.add(name)
        node = needed.node.add()
        node.CopyFrom(nodes[name])
        node.attr.pop("_class", None)  # Beside which node it should run.
        del node.input[:]
        inputs = [x for x in nodes[name].input if not x.startswith("^")]
        node.input.extend(inputs)
        tensors = {x if ":" in x else f"{x}:0" for x in inputs}
        read |= tensors & stops
        left += tensors - stops
    return needed, read
