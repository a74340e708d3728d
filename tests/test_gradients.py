"""Gradients against central differences, in float64."""

import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from tests import mechanisms

STEP = 1e-6


def _loss_of(layer, call):
    def loss():
        output = layer(**call)
        return tf.reduce_sum(tf.sin(output)) + sum(layer.losses)

    return loss


def _numeric(loss, variable):
    start = np.asarray(variable.numpy())
    gradient = np.zeros_like(start)
    for place in np.ndindex(start.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = start.copy()
            moved[place] += step
            variable.assign(moved)
            ends.append(float(loss()))
        gradient[place] = (ends[0] - ends[1]) / (2 * STEP)
    variable.assign(start)
    return gradient


def _check(name, masks, **options):
    """The gradient of each input and weight."""
    layer = mechanisms.make(name, dtype="float64", **options)
    inputs = {
        key: tf.Variable(value)
        for key, value in mechanisms.inputs(name, dtype="float64").items()
    }
    weights = [weight.value for weight in layer.trainable_variables]
    variables = [*inputs.values(), *weights]

    @tf.function
    def loss():
        given = {k: tf.convert_to_tensor(v) for k, v in inputs.items()}
        return _loss_of(layer, {**given, **masks})()

    with tf.GradientTape() as tape:
        value = loss()
    gradients = tape.gradient(value, variables)
    for variable, gradient in zip(variables, gradients, strict=True):
        expected = _numeric(loss, variable)
        actual = 0.0 if gradient is None else tf.convert_to_tensor(gradient)
        np.testing.assert_allclose(
            np.broadcast_to(actual, expected.shape),
            expected,
            rtol=1e-6,
            atol=1e-7,
        )


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_of_each_input_and_weight(name):
    _check(name, mechanisms.masks(name), jit_compile=False)


@pytest.mark.parametrize("name", mechanisms.BLOCKED)
def test_in_blocks(name):
    _check(name, mechanisms.masks(name), jit_compile=False, query_block_size=2)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: ka.BahdanauAttention(3, dtype="float64"),
        lambda: ka.BahdanauAttention(3, dtype="float64", jit_compile=False),
    ],
    ids=["compiled", "plain"],
)
def test_second_order(layer):
    """The derivative along a direction of the gradient along it."""
    layer = layer()
    random = np.random.default_rng(0)
    x, direction = random.normal(size=(2, 1, 4, 3))
    layer(x, x)

    def slope(x):
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x, x) ** 2)
        return tf.reduce_sum(tape.gradient(loss, x) * direction)

    with tf.GradientTape() as tape:
        start = tf.constant(x)
        tape.watch(start)
        first = slope(start)
    actual = tf.reduce_sum(tape.gradient(first, start) * direction)
    ends = [slope(x + step * direction) for step in (1e-5, -1e-5)]
    np.testing.assert_allclose(actual, (ends[0] - ends[1]) / 2e-5, rtol=1e-6)


def test_is_zero_and_finite_where_nothing_is_visible():
    x = tf.random.normal((2, 3, 4))
    hidden = np.zeros((2, 3), bool)
    for name in ("additive", "cosine", "sparsemax", "local_p", "multi_head"):
        constructor, _shapes = mechanisms.MECHANISMS[name]
        layer = constructor(jit_compile=False)
        with tf.GradientTape() as tape:
            tape.watch(x)
            context = layer(x, x, value_mask=hidden)
        gradients = tape.gradient(context, [x, *layer.trainable_variables])
        for gradient in gradients:
            if gradient is not None and gradient.shape != (4,):
                np.testing.assert_array_equal(gradient, 0 * gradient)
