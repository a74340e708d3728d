"""The least that a layer takes that is compiled.

`start`: in a model of the same inputs, weights and output as ours, run in the
same way, stands a layer whose program adds up the weights and writes the
output; its gradient has the shapes of the weights. The others are a softmax of
scores that no mask hides, and what it reads: `pairs` of all pairs, behind a
product with a weight, `places` of a score of places, `units` of an additive
score of a single query. Each product in the form that the package has found the
fastest. What a peer does in less time than that, no compiled layer does.
"""

import math
from collections.abc import Callable
from typing import Any

import keras

from benchmarks import ways
from benchmarks.sides import Side
from keras_attention import compilation, products, stages

Function = Callable[[list[Any], list[Any]], Any]

#: Elsewhere the whole model is one program, and a layer's in it starts none.
ALONE = ("eager", "predict", "fit")


class Program(keras.layers.Layer):
    """Calls `function` of its inputs and weights.

    As a layer of the package is, with its programs, forward and backward.

    Args:
        function: Of two lists of tensors; TensorFlow.
        shapes: Of the weights.
        jit_compile: Whether XLA compiles it by itself.
    """

    def __init__(
        self,
        function: Function,
        shapes: list[tuple[int, ...]],
        jit_compile: bool,
    ) -> None:
        super().__init__()
        self._function = function
        self._jit_compile = jit_compile
        self._programs: dict[Any, Any] = {}
        self._parts = [self.add_weight(shape, "normal") for shape in shapes]

    def call(self, *tensors: Any) -> Any:
        """What the function makes of inputs and weights."""
        import tensorflow as tf

        given = [*compilation.given_variables(self), *tensors]
        if not self._jit_compile:
            return self._flat(*given)
        wanted = compilation.recorded(given)
        shapes = tuple(tuple(x.shape) for x in tensors)
        kind = shapes, wanted, tf.executing_eagerly()
        if kind not in self._programs:
            self._programs[kind] = compilation.compiled(
                self._flat, given, wanted
            )
        return self._programs[kind](self._flat, given)

    def _flat(self, *given: Any) -> Any:
        count = len(self._parts)
        return self._function(list(given[count:]), list(given[:count]))


def start(
    model: keras.Model, way: str, kind: type[Program] = Program
) -> keras.Model:
    """A model like this one, with a program that does next to nothing."""
    shape = model.output_shape[1:]

    def nothing(tensors: list[Any], weights: list[Any]) -> Any:
        import tensorflow as tf

        batch = tf.shape(tensors[0])[0]
        rest = tf.zeros((batch * math.prod(shape) - 1,))
        total = tf.add_n([tf.zeros(()), *map(tf.reduce_sum, weights)])
        return tf.reshape(tf.concat([[total], rest], 0), (batch, *shape))

    shapes = [tuple(weight.shape) for weight in model.trainable_weights]
    return _model(model, way, nothing, shapes, kind)


def pairs(model: keras.Model, way: str) -> keras.Model:
    """A model like this one, with attention to all pairs and no more."""

    def attended(tensors: list[Any], weights: list[Any]) -> Any:
        import tensorflow as tf

        query, *others = map(tf.stop_gradient, tensors)
        key = others[0] if others else query
        projected = products.by_matrix(query, weights[0])
        scores = products.of_pairs(projected, key)
        return _read(scores, key)

    dim = model.inputs[0].shape[-1]
    return _model(model, way, attended, [(dim, dim)])


def places(model: keras.Model, way: str) -> keras.Model:
    """A model like this one, with attention to places and no more."""

    def attended(tensors: list[Any], weights: list[Any]) -> Any:
        import tensorflow as tf

        query, *others = map(tf.stop_gradient, tensors)
        value = others[0] if others else query
        scores = products.by_matrix(query, weights[0])
        return _read(scores, value)

    _batch, steps, dim = model.inputs[-1].shape
    return _model(model, way, attended, [(dim, steps)])


def units(model: keras.Model, way: str) -> keras.Model:
    """A model like this one, with an additive score of one query and no more.

    With one exponential of each key and unit in place of tanh.
    """

    def attended(tensors: list[Any], weights: list[Any]) -> Any:
        import tensorflow as tf

        query, *others = map(tf.stop_gradient, tensors)
        key = others[0] if others else query
        W, U, v = weights
        by_query = products.by_matrix(query[:, :1], W)
        hidden = tf.exp(by_query + products.by_matrix(key, U))
        scores = products.by_column(hidden, v)
        return _read(scores[:, None], key)

    dim = model.inputs[0].shape[-1]
    return _model(model, way, attended, [(dim, dim), (dim, dim), (dim, 1)])


def _read(scores: Any, value: Any) -> Any:
    """The values by a softmax of the scores, divided last."""
    import tensorflow as tf

    largest = tf.stop_gradient(tf.reduce_max(scores, -1, keepdims=True))
    portions = tf.exp(scores - largest)
    total = tf.reduce_sum(portions, -1, keepdims=True)
    sums = products.of_weights(portions, value)
    return stages.divided(sums, total, "float32")


def run(model: keras.Model, way: str, batch: int) -> Side:
    """One of these, run in this way; it has nothing to be compared."""
    return Side(ways.side(model, way, batch).run)


def _model(
    like: keras.Model,
    way: str,
    function: Function,
    shapes: list[tuple[int, ...]],
    kind: type[Program] = Program,
) -> keras.Model:
    inputs = keras.tree.map_structure(
        lambda x: keras.Input(x.shape[1:]), like.input
    )
    layer = kind(function, shapes, jit_compile=way in ALONE)
    return keras.Model(inputs, layer(*keras.tree.flatten(inputs)))
