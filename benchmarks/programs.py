"""The least that a layer takes that is compiled: the start of its programs.

In a model of the same inputs, weights and output as ours, run in the same way,
stands a layer whose program adds the weights up and writes the output; its
gradient has the shapes of the weights. What a peer does in less time than that,
no compiled layer does.
"""

import math
from collections.abc import Callable
from typing import Any

import keras

from benchmarks import ways
from benchmarks.sides import Side

Function = Callable[[list[Any], list[Any]], Any]

#: Elsewhere the whole model is one program, and a layer's in it starts none.
ALONE = ("eager", "predict", "fit")


class Program(keras.layers.Layer):
    """Calls `function` of its inputs and weights.

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
        import tensorflow as tf

        super().__init__()
        self._function = (
            tf.function(function, jit_compile=True) if jit_compile else function
        )
        self._parts = [self.add_weight(shape, "normal") for shape in shapes]

    def call(self, *tensors: Any) -> Any:
        """What the function makes of inputs and weights."""
        return self._function(list(tensors), [w.value for w in self._parts])


def start(model: keras.Model, way: str) -> keras.Model:
    """A model like this one, with a program that does next to nothing."""
    shape = model.output_shape[1:]

    def nothing(tensors: list[Any], weights: list[Any]) -> Any:
        import tensorflow as tf

        batch = tf.shape(tensors[0])[0]
        rest = tf.zeros((batch * math.prod(shape) - 1,))
        total = tf.add_n([tf.zeros(()), *map(tf.reduce_sum, weights)])
        return tf.reshape(tf.concat([[total], rest], 0), (batch, *shape))

    inputs = keras.tree.map_structure(
        lambda x: keras.Input(x.shape[1:]), model.input
    )
    shapes = [tuple(weight.shape) for weight in model.trainable_weights]
    layer = Program(nothing, shapes, jit_compile=way in ALONE)
    return keras.Model(inputs, layer(*keras.tree.flatten(inputs)))


def started(model: keras.Model, way: str, batch: int) -> Side:
    """`start`, run in this way; it has nothing to be compared."""
    return Side(ways.side(start(model, way), way, batch).run)
