"""The ways in which a Keras model is run.

Forward:

- `eager`: `model(x)`.
- `predict`: `model.predict_on_batch(x)`, the compiled step of `predict`
  without its data pipeline, which costs the same for every layer.
- `jit`: a `tf.function(jit_compile=True)` of the model.

Training:

- `fit`: `model.train_on_batch(x, y)` with `compile`'s defaults, the compiled
  step of `fit` without its data pipeline.
- `fit_jit`: the same with `compile(jit_compile=True)`.
- `gradient`: a `tf.function(jit_compile=True)` that returns the gradients of
  all weights and inputs.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any
from unittest import mock

import keras
import numpy as np

from benchmarks import comparison, timing
from benchmarks.sides import Side, arrays
from keras_attention import masks

FORWARD = ("eager", "predict", "jit")
TRAINING = ("fit", "fit_jit", "gradient")

#: Large, so that float32 tells the first update from the weights.
LEARNING_RATE = 1.0


def side(model: keras.Model, way: str, batch: int) -> Side:
    """The model, run in this way on numbers that are always the same."""
    x: Any = inputs_of(model, batch)
    if way == "gradient":
        return gradient(model, x, model.trainable_variables)
    if len(x) == 1:
        (x,) = x  # As the model was made.
    if way in ("fit", "fit_jit"):
        return _trained(model, x, "auto" if way == "fit" else True)
    if way == "jit":
        import tensorflow as tf

        run = functools.partial(tf.function(model, jit_compile=True), x)
    elif way == "predict":
        run = functools.partial(model.predict_on_batch, x)
    else:
        run = functools.partial(model, x)
    return Side(run, arrays)


def traced_with(side: Side, target: Any, name: str, value: Any) -> Side:
    """The side of one program, traced with another attribute of `target`.

    At its first call; neither before nor behind it are programs shared with
    other sides.
    """

    def first() -> Any:
        comparison.forget_programs()
        with mock.patch.object(target, name, value):
            returned = side.run()
        comparison.forget_programs()
        return returned

    runs = iter([first])
    return dataclasses.replace(side, run=lambda: next(runs, side.run)())


def unchecked(side: Side) -> Side:
    """The side of ours, as if no input held NaN, for which nothing looks."""

    def none_broken(x: Any) -> tuple[Any, Any]:
        return x, keras.ops.zeros(keras.ops.shape(x)[:-1], "bool")

    return traced_with(side, masks, "finite", none_broken)


def inputs_of(model: keras.Model, batch: int) -> list[Any]:
    """Numbers for each input of a model; its length has to be known."""
    rng = np.random.default_rng(0)
    shapes = [(batch, *x.shape[1:]) for x in model.inputs]
    return [tensor(rng.normal(size=shape)) for shape in shapes]


def tensor(x: np.ndarray) -> Any:
    """`x` as TensorFlow's tensor in float32."""
    return keras.ops.convert_to_tensor(x, "float32")


def like(output: Any) -> Any:
    """Numbers of an output's shape: what to learn, or where it is pulled."""
    return tensor(np.random.default_rng(1).normal(size=tuple(output.shape)))


def gradient(
    function: Callable[[list[Any]], Any],
    x: list[Any],
    weights: list[Any],
    may_be_unused: bool = False,
) -> Side:
    """Output, and gradients of weights and inputs, as one XLA program.

    Args:
        function: Of the list of inputs; TensorFlow.
        x: The inputs.
        weights: Keras's variables.
        may_be_unused: Whether some of the weights may have no gradient.
    """
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def outputs_and_gradients(x: list[Any], pull: Any) -> list[Any]:
        watched = [weight.value for weight in weights]
        with tf.GradientTape() as tape:
            tape.watch(x)
            output = function(x)
        gradients = tape.gradient(
            output, [*x, *watched], output_gradients=tf.cast(pull, output.dtype)
        )
        if may_be_unused:
            gradients = [g for g in gradients if g is not None]
        return [output, *gradients]

    if len(x) == 1:
        function = functools.partial(_of_one, function)
    pull = like(function(x))
    return Side(functools.partial(outputs_and_gradients, x, pull), arrays)


def _of_one(function: Callable[[Any], Any], x: list[Any]) -> Any:
    return function(x[0])


def _trained(model: keras.Model, x: Any, jit_compile: Any) -> Side:
    """Results: the loss, and the first gradients, of the sum of squares."""
    batch = len(keras.tree.flatten(x)[0])
    y = like(keras.KerasTensor((batch, *model.output_shape[1:])))
    model.compile(
        keras.optimizers.SGD(LEARNING_RATE), "mse", jit_compile=jit_compile
    )
    before = model.get_weights()

    def results(loss: Any) -> list[np.ndarray]:
        after = model.get_weights()
        # What is timed does not depend on how often: weights stay.
        model.optimizer.learning_rate.assign(0.0)
        gradients = [
            (old - new) * (np.size(y) / LEARNING_RATE)
            for old, new in zip(before, after, strict=True)
        ]
        return arrays([loss, *gradients])

    return Side(functools.partial(model.train_on_batch, x, y), results)


def overheads(seconds: float = 0.2) -> dict[str, dict[str, float]]:
    """Seconds of a call of a model that does next to nothing, each way.

    It also pays what a process pays once: XLA's and Keras's first use.
    """
    found = {}
    for way in (*FORWARD, *TRAINING):
        x = keras.Input((1,))
        nothing = side(keras.Model(x, keras.layers.Dense(1)(x)), way, 1)
        nothing.run()
        rounds = timing.interleaved({"": nothing.timed(1)}, 50, seconds)
        found[way] = vars(timing.Spread.of(rounds[""]))
    return found
