"""The loop over steps is the steps one after the other, gradients too."""

import operator

import numpy as np
import pytest
import tensorflow as tf

from keras_attention import step_loop

STEPS, BATCH, SIZE = 4, 2, 3


def _inputs():
    rng = np.random.default_rng(0)
    shapes = (BATCH, SIZE), (STEPS, BATCH, SIZE), (SIZE, SIZE), (SIZE, SIZE)
    return [tf.constant(rng.normal(size=shape)) for shape in shapes]


def _function(state, row, whole):
    """With a state that has no gradient, and one output that is narrow."""
    W, U = whole
    h = tf.tanh(row["x"] @ W + state["h"] @ U)
    h = h * (1.0 + 0.1 * tf.cast(state["number"], "float64"))
    outputs = {"twice": 2.0 * h, "sum": tf.reduce_sum(h, -1, keepdims=True)}
    return outputs, {"h": h, "number": state["number"] + 1}


def _looped(h, x, W, U):
    like = {"twice": h, "sum": h[:, :1]}
    state = {"h": h, "number": tf.zeros((), "int32")}
    return step_loop.over(_function, like, state, {"x": x}, [W, U])


def _unrolled(h, x, W, U):
    state = {"h": h, "number": tf.zeros((), "int32")}
    outputs = []
    for number in range(len(x)):
        output, state = _function(state, {"x": x[number]}, [W, U])
        outputs.append(output)
    names = outputs[0]
    return {k: tf.stack([o[k] for o in outputs]) for k in names}, state


def _loss(function, *inputs):
    outputs, state = function(*inputs)
    return (
        tf.reduce_sum(tf.sin(outputs["twice"]))
        + tf.reduce_sum(outputs["sum"] ** 2)
        + tf.reduce_sum(tf.cos(state["h"]))
    )


def _gradients(function):
    def gradients(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = _loss(function, *inputs)
        return loss, tape.gradient(loss, inputs)

    return gradients


WAYS = {
    "eager": lambda: _gradients(_looped),
    "graph": lambda: tf.function(_gradients(_looped)),
    "xla": lambda: tf.function(_gradients(_looped), jit_compile=True),
    # What a compiled call inside Keras's trainer is.
    "xla_inside_graph": lambda: tf.function(
        _gradients(tf.function(_looped, jit_compile=True))
    ),
    "unknown_lengths": lambda: tf.function(
        _gradients(_looped),
        input_signature=[
            tf.TensorSpec((None, SIZE), "float64"),
            tf.TensorSpec((None, None, SIZE), "float64"),
            *[tf.TensorSpec((SIZE, SIZE), "float64")] * 2,
        ],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_numbers_and_gradients_are_those_of_the_steps(way):
    inputs = _inputs()
    loss, gradients = WAYS[way]()(*inputs)
    expected, right = _gradients(_unrolled)(*inputs)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    for a, b in zip(gradients, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_state_goes_along():
    _, state = _looped(*_inputs())
    assert state["number"] == STEPS


@pytest.mark.parametrize("compiled", [False, True])
def test_one_step_is_no_loop(compiled):
    h, x, W, U = _inputs()
    run = tf.function(_gradients(_looped), jit_compile=compiled)
    loss, gradients = run(h, x[:1], W, U)
    expected, right = _gradients(_unrolled)(h, x[:1], W, U)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    for a, b in zip(gradients, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    graph = run.get_concrete_function(h, x[:1], W, U).graph
    assert not any("While" in op.type for op in graph.get_operations())


@pytest.mark.parametrize("compiled", [False, True])
def test_no_steps(compiled):
    h, x, W, U = _inputs()
    run = tf.function(_looped, jit_compile=compiled)
    outputs, state = run(h, x[:0], W, U)
    assert outputs["twice"].shape == (0, BATCH, SIZE)
    np.testing.assert_array_equal(state["h"], h)


@pytest.mark.parametrize("times", [operator.mul, operator.matmul])
def test_gradients_are_summed_in_float32(times):
    """bfloat16 stands still at 256."""
    ones = tf.ones((600, 1, 1), "bfloat16")
    weight = tf.ones((1, 1), "bfloat16")
    with tf.GradientTape() as tape:
        tape.watch(weight)
        outputs, _ = step_loop.over(
            lambda state, row, whole: ({"y": times(row["x"], *whole)}, state),
            {"y": ones[0]},
            {"h": ones[0]},
            {"x": ones},
            [weight],
        )
        loss = tf.reduce_sum(tf.cast(outputs["y"], "float32"))
    assert float(tape.gradient(loss, weight)[0, 0]) == 600.0


@pytest.mark.parametrize("way", [lambda f: f, tf.function])
def test_gradient_of_the_gradient(way):
    """That of the steps."""

    def second(function, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            _loss, gradients = _gradients(function)(*inputs)
            squares = sum(tf.reduce_sum(x**2) for x in gradients)
        return tape.gradient(squares, inputs)

    found = way(second)(_looped, *_inputs())
    right = second(_unrolled, *_inputs())
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_products_of_rows_are_not_made_again():
    """Two of each step forward, two backward, and two behind the loop."""
    program = WAYS["xla"]().experimental_get_compiler_ir(*_inputs())
    assert program(stage="hlo").count(" dot(") == 6


def _of_weight(product):
    """By which a state and the rows are multiplied in several ways."""

    def function(state, row, whole):
        h = product(state["h"], row["x"], *whole)
        return {"h": h}, {"h": h}

    def looped(h, x, W):
        outputs, _ = step_loop.over(function, {"h": h}, {"h": h}, {"x": x}, [W])
        return outputs["h"]

    def unrolled(h, x, W):
        outputs = []
        for row in tf.unstack(x):
            _, state = function({"h": h}, {"x": row}, [W])
            h = state["h"]
            outputs.append(h)
        return tf.stack(outputs)

    return looped, unrolled


PRODUCTS = {
    "once": lambda h, x, W: tf.tanh(h @ W + x),
    "twice": lambda h, x, W: tf.tanh(h @ W + x @ W),
    "transposed": lambda h, x, W: tf.tanh(tf.matmul(h, W, transpose_b=True)),
    "both_transposed": lambda h, x, W: tf.tanh(
        tf.matmul(tf.transpose(h), W, transpose_a=True, transpose_b=True)
    ),
    "of_a_copy": lambda h, x, W: tf.tanh(h @ tf.transpose(tf.identity(W))),
    "of_many_rows": lambda h, x, W: tf.tanh(
        tf.reduce_sum(tf.tensordot(tf.stack([h, x]), W, 1), axis=0)
    ),
    "of_a_part": lambda h, x, W: tf.tanh(h @ W[:, :SIZE] + x),
    "added_too": lambda h, x, W: tf.tanh(h @ W + x + W[0]),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("compiled", [False, True])
def test_products_with_a_weight(name, compiled):
    h, x, W, _ = _inputs()
    looped, unrolled = _of_weight(PRODUCTS[name])

    def gradients(function, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = tf.reduce_sum(tf.sin(function(*inputs)))
        return loss, tape.gradient(loss, inputs, unconnected_gradients="zero")

    run = tf.function(gradients, jit_compile=compiled)
    found = tf.nest.flatten(run(looped, h, x, W))
    right = tf.nest.flatten(gradients(unrolled, h, x, W))
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
