"""What `program_gradient` promises: see its docstring."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention import stages
from keras_attention.program_gradient import Differentiated

T = 6
TABLE = (2, T, T)


def _scores(x, W):
    """A table of pairs that a mask of places and a choice go into."""
    scores = tf.matmul(x @ W, x, transpose_b=True)
    places = tf.range(T)
    near = tf.abs(places[:, None] - places) < 3
    return tf.where(near, scores, tf.cast(-9.0, scores.dtype))


@tf.custom_gradient
def _exponential(x):
    """Its gradient is written out, of a tensor of the graph it is made in."""
    y = tf.exp(x)
    return y, lambda upstream: upstream * y


def _attended(x, W):
    weights = _exponential(_scores(x, W))
    return weights @ x, {"total": tf.reduce_sum(weights, -1)}


def _only_handed_on(x, W):
    return tf.stop_gradient(x), tf.identity(W), tf.shape(x), 3.0 * x


def _choice_by_number(x, W):
    number = tf.argmax(x, -1)
    return tf.gather(W, number), number


def _conditional(x, W):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x @ W, lambda: x - 1.0)


FUNCTIONS = [
    (_attended, 3),
    (_only_handed_on, 3),
    (_choice_by_number, 3),
    (_conditional, 1),  # TensorFlow has no gradient of a branch's gradient.
]

every_function = pytest.mark.parametrize(("function", "orders"), FUNCTIONS)


def _given():
    random = np.random.default_rng(0)
    return [
        tf.constant(random.normal(0.0, 0.5, size), "float64")
        for size in ((2, T, 4), (4, 4))
    ]


def _orders(function, given, orders):
    """The results, and gradients of gradients, of real results."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given)
        results = keras.tree.flatten(function(*given))
        found = [results]
        for order in range(orders):
            loss = sum(
                tf.reduce_sum(tf.sin(x + order))
                for x in found[-1]
                if x.dtype.is_floating
            )
            found.append(
                [tf.convert_to_tensor(x) for x in _gradient(tape, loss, given)]
            )
    return keras.tree.flatten(found)


def _gradient(tape, loss, given):
    return tape.gradient(loss, given, unconnected_gradients="zero")


def _differentiated(function, given, wanted=(0, 1)):
    program = Differentiated(function, given, wanted)
    return program, lambda *given: program(function, list(given))


def _assert_equal(actual, expected):
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@every_function
@pytest.mark.parametrize("in_graph", [False, True])
def test_results_and_gradients(function, orders, in_graph):
    given = _given()
    expected = _orders(function, given, orders)
    _program, compiled = _differentiated(function, given)
    if in_graph:
        run = tf.function(lambda *given: _orders(compiled, given, orders))
        actual = run(*given)
    else:
        actual = _orders(compiled, given, orders)
    _assert_equal(actual, expected)


def test_structure_of_the_results_is_that_of_the_function():
    given = _given()
    _program, compiled = _differentiated(_attended, given)
    context, rest = compiled(*given)
    assert context.shape == (2, T, 4)
    assert list(rest) == ["total"]


def test_only_what_takes_time_is_kept():
    """Products and exponentials: no mask, scores, other shapes."""
    program, _compiled = _differentiated(_attended, _given())
    made = [tuple(x.shape) for x in program._forward._program.outputs]
    assert made == [(2, T, 4), (2, T), (2, T, 4), TABLE]


def test_the_gradient_is_given_the_arguments_themselves():
    program, _compiled = _differentiated(lambda x, W: x @ W, _given())
    (output,) = program._forward._program.outputs
    assert output.shape == (2, T, 4)
    taken = sorted(tuple(x.shape) for x in program._backward._program.inputs)
    assert taken == [(2, T, 4), (2, T, 4), (4, 4)]


def test_no_gradient_but_the_wanted_is_made():
    given = _given()
    program, compiled = _differentiated(_attended, given, wanted=(1,))
    with tf.GradientTape() as tape:
        tape.watch(given)
        context, _rest = compiled(*given)
    by_x, by_W = tape.gradient(context, given)
    assert by_x is None
    assert by_W.shape == (4, 4)
    assert len(program._backward._program.outputs) == 1


def test_one_tensor_given_twice():
    x, _W = _given()

    def product(a, b):
        return tf.matmul(a, b, transpose_b=True) ** 2

    _program, compiled = _differentiated(product, [x, x])
    _assert_equal(
        _orders(lambda x: compiled(x, x), [x], 2),
        _orders(lambda x: product(x, x), [x], 2),
    )


def test_forward_mode():
    given = _given()
    _program, compiled = _differentiated(_attended, given)
    found = []
    for function in (compiled, _attended):
        with tf.autodiff.ForwardAccumulator(given, given) as accumulator:
            context, _rest = function(*given)
        found.append(accumulator.jvp(context))
    np.testing.assert_allclose(*found, rtol=1e-4)


def test_long_chains_of_cheap_operations():
    """Each number twice in the next, and more than Python calls in a row."""

    def chain(x, W):
        for _ in range(600):
            x = (x + x) * 0.5
        return x @ W

    given = _given()
    _program, compiled = _differentiated(chain, given)
    _assert_equal(_orders(compiled, given, 1), _orders(chain, given, 1))


@keras.saving.register_keras_serializable("tests")
class _BorrowedScore(stages.Score):
    """Scales by a variable that Keras does not know of."""

    borrowed = tf.Variable(2.0)

    def compare(self, query, key):
        return self.borrowed * tf.matmul(query, key, transpose_b=True)


def test_a_variable_that_is_not_given_has_its_gradient():
    x, _W = _given()
    gradients = []
    for compiled in (True, False):
        layer = ka.Attention(_BorrowedScore(), jit_compile=compiled)
        with tf.GradientTape() as tape:
            tape.watch(x)  # Else nothing that is given is recorded.
            loss = tf.reduce_sum(tf.sin(layer(x, x)))
        gradients.append(tape.gradient(loss, _BorrowedScore.borrowed))
    np.testing.assert_allclose(*gradients, rtol=1e-4)
    assert abs(gradients[0]) > 1e-3


def test_symbolic_gradients_beside_a_tape():
    """As a train step of one's own may ask for them, in a graph."""
    _program, compiled = _differentiated(_attended, _given())

    @tf.function
    def both(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            context, _rest = compiled(*given)
            symbolic = tf.gradients(context, given)
        return symbolic, tape.gradient(context, given)

    _assert_equal(*both(*_given()))
