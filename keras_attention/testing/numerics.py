"""Promises about numbers: dtypes, compilation, gradients."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention import compilation
from keras_attention.testing import gradients
from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Arrays, Sizes, Subject, numpy
from keras_attention.testing.violation import expect, expect_equal

#: How far each dtype may be from float32, relative and absolute.
TOLERANCES = {
    "float16": 2e-2,
    "bfloat16": 1e-1,
    "mixed_float16": 2e-2,
    "mixed_bfloat16": 1e-1,
    "float64": 1e-5,
}


@promise("Every dtype policy gives float32's numbers in its own dtype.")
def dtypes_agree(subject: Subject, sizes: Sizes) -> None:
    """Output dtype, weight dtype, and large inputs that stay finite."""
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    layer = subject.fresh(sizes)
    right, weights = subject.output(layer, arguments), layer.get_weights()
    for name, tolerance in TOLERANCES.items():
        keras.config.set_dtype_policy(name)
        layer = subject.fresh(sizes)
        layer.set_weights(weights)
        output = subject.call(layer, arguments)
        dtypes = layer.compute_dtype, layer.variable_dtype
        expect(
            keras.backend.standardize_dtype(output.dtype) == dtypes[0],
            f"under {name} an output of {output.dtype}",
        )
        expect(
            all(w.dtype == dtypes[1] for w in layer.trainable_weights),
            f"under {name} a weight that is not {dtypes[1]}",
        )
        expect_equal(numpy(output), right, f"output in {name}", tolerance)
        large = {
            k: x * 8 if x.dtype.kind == "f" else x for k, x in arguments.items()
        }
        found = subject.output(layer, large)
        expect(np.isfinite(found).all(), f"under {name}, not finite")


@promise(
    "Compiled by XLA the layer gives the same numbers and gradients.",
    backends=("tensorflow", "jax"),
)
def xla_equals_eager(subject: Subject, sizes: Sizes) -> None:
    """The compiled call, a compiled function around it, a plain function."""
    layer = subject.fresh(sizes)
    arguments = _padded_with_nan(subject, sizes)
    plain, weights = subject.run(layer, arguments)
    factor = np.cos(np.arange(plain.size)).reshape(plain.shape)
    factor = np.where(np.isfinite(plain), factor, 0.0).astype("float32")
    if keras.backend.backend() == "tensorflow":
        compilation.set_jit_compile(True)
        found, found_weights = subject.run(layer, arguments)
        expect_equal(found, plain, "the compiled output", 1e-5)
        if weights is not None:
            expect_equal(found_weights, weights, "the compiled weights", 1e-5)
        compiled = gradients.of(subject, layer, arguments, factor)
        compilation.set_jit_compile(False)
        for name, right in gradients.of(
            subject, layer, arguments, factor
        ).items():
            if right is not None:
                what = f"the compiled gradient of {name}"
                expect_equal(compiled[name], right, what, 1e-5)
    for function in _functions(subject, layer, arguments):
        what = f"the output in a {function.__name__}"
        expect_equal(numpy(function()), plain, what, 1e-5)


@promise("A gradient reaches every weight.", shrinks=False)
def gradients_reach_every_weight(subject: Subject, sizes: Sizes) -> None:
    """None is missing, and none is 0 throughout."""
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    factor = _factor(subject.output(layer, arguments))
    found = gradients.of(subject, layer, arguments, factor)
    for name, gradient in found.items():
        if name not in arguments:
            reached = gradient is not None and np.abs(gradient).max() > 1e-7
            expect(reached, f"no gradient of {name}")


@promise("Gradients are finite and equal central differences.")
def gradients_equal_differences(subject: Subject, sizes: Sizes) -> None:
    """In float64, along a random direction of each tensor, with masks."""
    keras.config.set_dtype_policy("float64")
    layer = subject.fresh(sizes)
    arguments = {
        name: x.astype("float64")
        for name, x in subject.arguments(sizes).items()
    }
    masks = subject.masks(sizes)
    factor = _factor(subject.output(layer, {**arguments, **masks}))

    def loss(given: Arrays) -> float:
        output = subject.output(layer, {**given, **masks})
        return float(np.sum(factor * output))

    found = gradients.of(subject, layer, {**arguments, **masks}, factor)
    random, step = np.random.default_rng(2), 1e-5
    for name, gradient in found.items():
        if gradient is None:
            continue
        expect(np.isfinite(gradient).all(), f"gradient of {name} not finite")
        direction = random.normal(size=gradient.shape)
        move = _mover(layer, arguments, name, direction * step)
        difference = (move(loss, 1) - move(loss, -1)) / (2 * step)
        along = np.sum(gradient * direction)
        expect_equal(along, difference, f"gradient along {name}", 1e-5)


def _mover(
    layer: keras.Layer, arguments: Arrays, name: str, change: np.ndarray
) -> Callable[[Callable[[Arrays], float], int], float]:
    """Takes `loss` with one argument or weight moved by `sign * change`."""
    by_path = {w.path.partition("/")[2]: w for w in layer.trainable_variables}

    def move(loss: Callable[[Arrays], float], sign: int) -> float:
        if name in arguments:
            return loss({**arguments, name: arguments[name] + sign * change})
        weight = by_path[name]
        before = ops.convert_to_numpy(weight.value)
        weight.assign(before + sign * change)
        value = loss(arguments)
        weight.assign(before)
        return value

    return move


def _factor(output: np.ndarray) -> np.ndarray:
    return np.cos(np.arange(output.size)).reshape(output.shape)


def _padded_with_nan(subject: Subject, sizes: Sizes) -> Arrays:
    """NaN behind the mask: the compiled program must hide it too."""
    arguments, masks = subject.arguments(sizes), subject.masks(sizes)
    mask = masks.get(subject.mask_name)
    if mask is not None:
        for name in subject.sequences:
            arguments[name][~mask] = np.nan
    return {**arguments, **masks}


def _functions(
    subject: Subject, layer: keras.Layer, arguments: Arrays
) -> list[Callable[[], Any]]:
    def layer_call() -> Any:
        return subject.call(layer, arguments)

    if keras.backend.backend() == "jax":
        import jax

        return [jax.jit(layer_call)]
    import tensorflow as tf

    def tf_function() -> Any:
        return tf.function(layer_call, autograph=False)()

    def compiled_tf_function() -> Any:
        compiled = tf.function(layer_call, autograph=False, jit_compile=True)
        return compiled()

    return [tf_function, compiled_tf_function]
