"""Both matrix products of attention, forward and backward."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention import products
from tests import mechanisms

STEP = 1e-6
FUNCTIONS = {
    "pairs": (products.of_pairs, "...qd,...kd->...qk", (3, 5), (4, 5)),
    "weights": (products.of_weights, "...qk,...kd->...qd", (3, 4), (4, 5)),
    # Those of windows are summed in lanes; 5 has one, 24 has 8.
    "window_pair": (products.of_pairs, "...qd,...kd->...qk", (1, 5), (4, 5)),
    "window_pairs": (products.of_pairs, "...qd,...kd->...qk", (1, 24), (4, 24)),
    "window_weights": (
        products.of_weights,
        "...qk,...kd->...qd",
        (1, 4),
        (4, 24),
    ),
    # A large table has its gradients written out.
    "large_pairs": (products.of_pairs, "...qd,...kd->...qk", (3, 5), (4, 5)),
    "large_weights": (
        products.of_weights,
        "...qk,...kd->...qd",
        (3, 4),
        (4, 5),
    ),
    "window_weight": (
        products.of_weights,
        "...qk,...kd->...qd",
        (1, 1),
        (1, 5),
    ),
}
LEADING = [
    ((), ()),
    ((2,), (2,)),
    ((2, 3), (2, 3)),
    ((2, 1), (2, 3)),
    ((1,), (2,)),
    ((2,), ()),
    ((), (2,)),
]


@pytest.fixture(autouse=True)
def sizes(request, monkeypatch):
    """Large, or of windows, is what the name of the product says."""
    spec = getattr(request.node, "callspec", None)
    name = "" if spec is None else spec.params.get("name", "")
    if "large" in name:
        monkeypatch.setattr(products, "LARGE", 1)
    if "window" in name:
        monkeypatch.setattr(products, "MANY", 1)


every_product = pytest.mark.parametrize("name", FUNCTIONS)
all_leading = pytest.mark.parametrize("leading", LEADING, ids=str)


def _sides(name, leading, dtype="float64"):
    random = np.random.default_rng(0)
    return [
        tf.constant(random.normal(size=(*axes, *own)).astype(dtype))
        for axes, own in zip(leading, FUNCTIONS[name][2:], strict=True)
    ]


def _gradients(function, sides):
    """Of a loss whose upstream gradient is another number at each place."""
    with tf.GradientTape() as tape:
        tape.watch(sides)
        loss = tf.reduce_sum(tf.sin(function(*sides)))
    return tape.gradient(loss, sides)


def _numeric(function, sides, side):
    start = sides[side].numpy()
    gradient = np.zeros_like(start)
    for place in np.ndindex(start.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = start.copy()
            moved[place] += step
            given = list(sides)
            given[side] = tf.constant(moved)
            ends.append(np.sin(function(*given).numpy()).sum())
        gradient[place] = (ends[0] - ends[1]) / (2 * STEP)
    return gradient


@every_product
@all_leading
def test_numbers_are_those_of_numpy(name, leading):
    function, equation = FUNCTIONS[name][:2]
    a, b = _sides(name, leading)
    expected = np.einsum(equation, a, b)
    np.testing.assert_allclose(function(a, b), expected, rtol=1e-12)


@every_product
@all_leading
def test_gradients_are_the_numeric_ones(name, leading):
    function = FUNCTIONS[name][0]
    sides = _sides(name, leading)
    gradients = _gradients(function, sides)
    for side, gradient in enumerate(gradients):
        expected = _numeric(function, sides, side)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@every_product
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_those_of_a_plain_product(name, jit_compile, dtype):
    def plain(a, b):
        return tf.matmul(a, b, transpose_b="pair" in name)

    sides = _sides(name, LEADING[2], dtype)
    compiled = tf.function(_gradients, jit_compile=jit_compile)
    actual = compiled(FUNCTIONS[name][0], sides)
    for a, b in zip(actual, _gradients(plain, sides), strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@every_product
def test_gradients_of_one_tensor_given_twice(name):
    function = FUNCTIONS[name][0]
    rows = FUNCTIONS[name][2][0]
    x = tf.constant(np.random.default_rng(0).normal(size=(2, rows, rows)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(function(x, x) ** 2)
    left, right = tf.identity(x), tf.identity(x)
    with tf.GradientTape() as other:
        other.watch([left, right])
        again = tf.reduce_sum(
            tf.matmul(left, right, transpose_b="pair" in name) ** 2
        )
    expected = sum(other.gradient(again, [left, right]))
    np.testing.assert_allclose(tape.gradient(loss, x), expected)


@every_product
def test_second_order_gradients(name):
    function = FUNCTIONS[name][0]
    a, b = _sides(name, LEADING[1])
    direction = tf.constant(np.random.default_rng(1).normal(size=a.shape))

    def slope(a):
        with tf.GradientTape() as tape:
            tape.watch(a)
            loss = tf.reduce_sum(tf.sin(function(a, b)))
        return tf.reduce_sum(tape.gradient(loss, a) * direction)

    with tf.GradientTape() as tape:
        tape.watch(a)
        first = slope(a)
    actual = tf.reduce_sum(tape.gradient(first, a) * direction)
    ends = [slope(a + step * direction) for step in (1e-5, -1e-5)]
    np.testing.assert_allclose(actual, (ends[0] - ends[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_float32(dtype):
    """4,096 terms of 40: float16 ends at 65,504, and bfloat16 stands still."""
    ones, forties = (
        tf.cast(tf.fill((1, 1, 4096), n), dtype) for n in (1.0, 40.0)
    )
    values = tf.reshape(forties, (1, 4096, 1))
    for result in (
        products.of_pairs(ones, forties),
        products.of_weights(ones, values),
    ):
        assert result.dtype == "float32"
        np.testing.assert_array_equal(result, [[[163840.0]]])
    # Gradients are summed over queries as well.
    queries = tf.cast(tf.fill((1, 4096, 1), 40.0), dtype)
    keys = tf.ones((1, 1, 1), "float32")
    with tf.GradientTape() as tape:
        tape.watch(keys)
        loss = tf.reduce_sum(products.of_pairs(queries, keys))
    np.testing.assert_array_equal(tape.gradient(loss, keys), [[[163840.0]]])


@every_product
def test_gradients_keep_the_dtype_of_what_they_are_of(name):
    sides = _sides(name, LEADING[1], "float16")
    for gradient in _gradients(FUNCTIONS[name][0], sides):
        assert gradient.dtype == "float16"


@every_product
def test_nothing_to_sum_gives_zeros(name):
    function, _equation, (rows, _), _b = FUNCTIONS[name]
    columns = (2, 4, 0) if "pair" in name else (2, 0, 4)
    sides = [tf.zeros((2, rows, 0)), tf.zeros(columns)]
    np.testing.assert_array_equal(function(*sides), np.zeros((2, rows, 4)))
    for x, gradient in zip(sides, _gradients(function, sides), strict=True):
        assert gradient.shape == x.shape


@every_product
def test_symbolic_shapes(name):
    function, equation, a, b = FUNCTIONS[name]
    sides = [keras.KerasTensor((None, *own)) for own in (a, b)]
    expected = np.einsum(equation, *_sides(name, ((2,), (2,))))
    assert function(*sides).shape == (None, *expected.shape[1:])


@every_product
def test_unknown_axes(name):
    """One program for every batch and length."""
    function, equation, a, b = FUNCTIONS[name]
    is_single = a[0] == 1  # Then the width is known too.
    traced = tf.function(
        lambda a, b: (function(a, b), _gradients(function, [a, b])),
        input_signature=[
            tf.TensorSpec((None, *own), "float64")
            for own in ((a, b) if is_single else ((None, None),) * 2)
        ],
    )
    for batch in (1, 3):
        sides = _sides(name, ((batch,), (batch,)))
        result, gradients = traced(*sides)
        np.testing.assert_allclose(result, np.einsum(equation, *sides))
        for a, b in zip(gradients, _gradients(function, sides), strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("shape", [(2,), (3, 2), (4, 3, 2), (2, 4, 3, 2)])
def test_by_matrix_is_a_product_of_the_last_axis(shape):
    random = np.random.default_rng(0)
    x, W = (tf.constant(random.normal(size=s)) for s in (shape, (2, 5)))
    expected = np.einsum("...m,mn->...n", x, W)
    np.testing.assert_allclose(products.by_matrix(x, W), expected, rtol=1e-12)
    for side, gradient in enumerate(_gradients(products.by_matrix, [x, W])):
        right = _numeric(products.by_matrix, [x, W], side)
        np.testing.assert_allclose(gradient, right, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("equation", "W", "axes"),
    [
        ("btm,mn->btn", (6, 3), 1),  # The upstream is the smaller one.
        ("btm,mn->btn", (6, 9), 1),
        ("btm,mhn->bthn", (6, 2, 4), 1),  # To several heads.
        ("bthm,hmn->btn", (2, 6, 4), 2),  # From several heads.
    ],
)
def test_by_matrix_compiled_by_xla(equation, W, axes):
    """Gradients of both orders, some written out, by both sides."""
    rows = {"b": 3, "t": 5, "h": 2, "m": 6}
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=[rows[c] for c in equation[: 2 + axes]]))
    W = tf.constant(random.normal(size=W))

    def both_orders(function):
        with tf.GradientTape() as tape:
            tape.watch([x, W])
            first = _gradients(function, [x, W])
            loss = sum(tf.reduce_sum(tf.cos(g)) for g in first)
        return [*first, *tape.gradient(loss, [x, W])]

    compiled = tf.function(both_orders, jit_compile=True)
    actual = compiled(lambda x, W: products.by_matrix(x, W, axes))
    expected = both_orders(lambda x, W: tf.einsum(equation, x, W))
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_a_bias_of_several_heads(jit_compile, has_bias):
    """Values, and gradients by all."""
    random = np.random.default_rng(0)
    shapes = [(3, 5, 6), (6, 2, 4), (2, 4)][: 2 + has_bias]
    sides = [tf.constant(random.normal(size=shape)) for shape in shapes]

    def function(x, W, b=None):
        return products.with_bias(x, W, b)

    def plain(x, W, b=0.0):
        return tf.einsum("btm,mhn->bthn", x, W) + b

    compiled = tf.function(
        lambda *sides: [function(*sides), *_gradients(function, sides)],
        jit_compile=jit_compile,
    )
    expected = [plain(*sides), *_gradients(plain, sides)]
    for x, y in zip(compiled(*sides), expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)


def test_the_gradient_of_a_bias_is_summed_in_float32():
    """In bfloat16 a sum of ones ends at 256."""
    x, W, b = (tf.ones(n, "bfloat16") for n in ((2, 2000, 2), (2, 3), (3,)))

    @tf.function(jit_compile=True)
    def gradient(b):
        return tf.gradients(products.with_bias(x, W, b), b)[0]

    np.testing.assert_allclose(tf.cast(gradient(b), "float32"), 4000, rtol=0.01)


@pytest.mark.parametrize("shape", [(3, 2), (4, 3, 2), (2, 4, 3, 2)])
@pytest.mark.parametrize("compiled", [False, True])
def test_by_column_is_a_product_of_the_last_axis(shape, compiled):
    random = np.random.default_rng(0)
    x, v = (tf.constant(random.normal(size=s)) for s in (shape, (2, 1)))
    function = tf.function(products.by_column, jit_compile=compiled)
    expected = np.einsum("...m,m->...", x, v[:, 0])
    np.testing.assert_allclose(function(x, v), expected, rtol=1e-12)
    for side, gradient in enumerate(_gradients(function, [x, v])):
        right = _numeric(products.by_column, [x, v], side)
        np.testing.assert_allclose(gradient, right, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(3, 2), (4, 3, 2), (2, 4, 3, 2)])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_rows_are_summed_and_multiplied(jit_compile, shape):
    """Values, and gradients of both orders."""
    random = np.random.default_rng(0)
    x, s = (
        tf.constant(random.normal(size=size)) for size in (shape, shape[:-1])
    )

    def function(x, s):
        return products.row_sums(products.by_rows(x * x, s)) * s

    def plain(x, s):
        return tf.reduce_sum(x * x * s[..., None], -1) * s

    def both_orders(function, x, s):
        first = tf.gradients(function(x, s), [x, s])
        second = tf.gradients([tf.sin(y) for y in first], [x, s])
        return [function(x, s), *first, *second]

    found = tf.function(both_orders, jit_compile=jit_compile)(function, x, s)
    expected = tf.function(both_orders)(plain, x, s)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_rows_are_summed_by_a_product():
    """XLA adds up a row one number at a time."""

    @tf.function(jit_compile=True)
    def function(x, s):
        return tf.gradients(products.row_sums(products.by_rows(x, s)), s)[0]

    given = tf.ones((2, 3, 4)), tf.ones((2, 3))
    hlo = function.experimental_get_compiler_ir(*given)("optimized_hlo")
    assert " dot(" in hlo
    np.testing.assert_allclose(function(*given), np.full((2, 3), 4.0))


def test_rows_are_summed_in_float32():
    """In bfloat16 a sum of ones ends at 256."""
    x, s = tf.ones((2, 2000), "bfloat16"), tf.ones((2,), "bfloat16")

    @tf.function(jit_compile=True)
    def sums(x, s):
        by_s = tf.gradients(products.by_rows(x, s), s)[0]
        return products.row_sums(x), tf.cast(by_s, "float32")

    for found in sums(x, s):
        np.testing.assert_allclose(found, 2000, rtol=0.01)
    assert products.row_sums(x).dtype == "float32"
    assert sums(x, s)[0].dtype == "float32"


@pytest.mark.parametrize(
    ("leading", "rows", "keys", "is_summed"),
    [
        ((2, 64), 1, 128, True),
        ((2, None), 1, 128, True),
        ((2, 64), 1, 129, False),
        ((2, 64), 2, 128, False),
        ((2, 8), 1, 128, False),  # Heads.
        ((64,), 1, 128, False),  # A batch.
    ],
)
def test_what_is_of_windows_is_summed(leading, rows, keys, is_summed):
    a = keras.KerasTensor((*leading, rows, 16))
    b = keras.KerasTensor((*leading, keys, 16))
    assert products._are_windows(a, b) is is_summed


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_no_tensor_of_rank_four_meets_a_matrix(name, monkeypatch):
    """TensorFlow's product of the two has crashed whole processes."""
    product = keras.ops.matmul

    def watched(x1, x2):
        assert not (len(x1.shape) > 3 and len(x2.shape) == 2)
        return product(x1, x2)

    layer = mechanisms.make(name)
    monkeypatch.setattr("keras.ops.matmul", watched)
    layer(**{k: x[None] for k, x in mechanisms.inputs(name).items()})


#: As XLA writes a product whose left factor, the table, is transposed; and one
#: whose left factor is, where no axis is in front.
BY_TRANSPOSED_TABLE = "lhs_batch_dims={0}, lhs_contracting_dims={1},"
BY_TRANSPOSED = ", lhs_contracting_dims={0},"


@pytest.mark.parametrize("large", [True, False])
def test_xla_multiplies_by_no_transposed_table(large, monkeypatch):
    """With the batch alone in front; left to itself, XLA does."""
    if not large:
        monkeypatch.setattr(products, "LARGE", float("inf"))

    def context(query, key):
        scores = products.of_pairs(query, key)
        return products.of_weights(tf.sin(scores), key)

    x = tf.ones((4, 256, 64))
    assert (BY_TRANSPOSED_TABLE in _program(context, x, x)) != large


@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("written", [True, False])
def test_xla_multiplies_by_no_transposed_rows(width, written, monkeypatch):
    """In the gradient of a matrix; left to itself, XLA does."""
    if not written:
        monkeypatch.setattr(products, "by_xla", lambda: False)
    x, W = tf.ones((4, 256, 64)), tf.ones((64, width))
    assert (BY_TRANSPOSED in _program(products.by_matrix, x, W)) != written


def test_the_smaller_rows_are_transposed():
    x, W = tf.ones((4, 256, 64)), tf.ones((64, 8))
    program = _program(products.by_matrix, x, W)
    assert "f32[8,1024]" in program
    assert "f32[64,1024]" not in program


def test_a_column_has_its_gradient_by_examples():
    """Else XLA makes what is upstream again for each number of the column."""
    x, column = tf.ones((4, 256, 64)), tf.ones((64, 1))
    assert "lhs_batch_dims={0}" in _program(products.by_matrix, x, column)


def _program(function, *sides):
    """The optimised program of the gradients."""

    @tf.function(jit_compile=True)
    def gradients(*sides):
        return _gradients(function, list(sides))

    return gradients.experimental_get_compiler_ir(*sides)("optimized_hlo")
