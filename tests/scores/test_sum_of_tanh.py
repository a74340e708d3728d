"""Additive scores by exponentials, where XLA compiles them."""

import numpy as np
import pytest
import tensorflow as tf

from keras_attention import compilation
from keras_attention.scores import sum_of_tanh as module
from keras_attention.scores.sum_of_tanh import sum_of_tanh

UNITS = 6


def tensors(dtype="float64", scale=1.0, queries=5, keys=7):
    random = np.random.default_rng(0)
    return [
        tf.constant(scale * random.normal(size=(2, queries, UNITS)), dtype),
        tf.constant(scale * random.normal(size=(2, keys, UNITS)), dtype),
        tf.constant(random.normal(size=(UNITS, 1)), dtype),
    ]


def scores(a, b, v):
    sums = np.tanh(np.asarray(a)[:, :, None] + np.asarray(b)[:, None])
    return (sums @ np.asarray(v))[..., 0]


def compiled(function):
    return tf.function(function, jit_compile=True)


def slopes(a, b, v):
    with tf.GradientTape() as tape:
        tape.watch([a, b, v])
        loss = tf.reduce_sum(tf.sin(sum_of_tanh(a, b, v)))
    return tape.gradient(loss, [a, b, v])


@pytest.fixture
def forms(monkeypatch):
    """Which forms have been traced."""
    seen = []
    for name in ("_tanh", "_tanh_by_exponentials"):
        form = getattr(module, name)

        def spied(a, b, name=name, form=form):
            seen.append(name)
            return form(a, b)

        monkeypatch.setattr(module, name, spied)
    return seen


@pytest.mark.parametrize("scale", [1.0, 15.0, 60.0, 400.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_any_size(scale, dtype, forms):
    given = tensors(dtype, scale)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(
        compiled(sum_of_tanh)(*given), scores(*given), atol=tolerance
    )
    assert set(forms) == {"_tanh", "_tanh_by_exponentials"}


@pytest.mark.parametrize("far", [40.0, 43.0, 44.5, 90.0, 1e6])
def test_two_far_projections_that_cancel(far):
    """Of e^{2a} e^{2b} one may be infinite where the sum is small."""
    a = tf.fill((1, 2, 1), far)
    b = tf.constant([[[0.25], [-0.5], [0.0]]]) - far
    v = tf.ones((1, 1))
    for x, y in ((a, b), (b, a)):
        np.testing.assert_allclose(
            compiled(sum_of_tanh)(x, y, v), scores(x, y, v), atol=2e-5
        )


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_gradients_are_those_of_tanh(scale, forms):
    given = tensors(scale=scale)
    right = slopes(*given)  # Eagerly: the plain form.
    assert set(forms) == {"_tanh"}
    for actual, expected in zip(compiled(slopes)(*given), right, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
    assert "_tanh_by_exponentials" in forms


def test_second_order_gradients():
    def second(a, b, v):
        with tf.GradientTape() as tape:
            tape.watch([a, b, v])
            steepness = sum(tf.reduce_sum(x**2) for x in slopes(a, b, v))
        return tape.gradient(steepness, [a, b, v])

    given = tensors()
    right = second(*given)
    for actual, expected in zip(compiled(second)(*given), right, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_at_its_pairs(bad):
    a, b, v = (x.numpy() for x in tensors("float32"))
    a[0, 2, 1] = bad
    actual = compiled(sum_of_tanh)(a, b, v)
    np.testing.assert_allclose(actual, scores(a, b, v), atol=1e-5)


def test_one_query_takes_tanh(forms):
    compiled(sum_of_tanh)(*tensors(queries=1))
    assert set(forms) == {"_tanh"}


def test_nothing_to_score():
    for queries, keys in ((0, 3), (3, 0)):
        found = compiled(sum_of_tanh)(*tensors(queries=queries, keys=keys))
        assert found.shape == (2, queries, keys)


def _asked(jit_compile, inner=None):
    seen = []

    def function():
        seen.append(compilation.by_xla())
        if inner:
            inner(seen)
        return tf.constant(0)

    tf.function(function, jit_compile=jit_compile)()
    return seen


def test_by_xla_knows_what_is_traced():
    def inner(seen):
        tf.function(lambda: seen.append(compilation.by_xla()) or 0)()

    assert not compilation.by_xla()
    assert _asked(False) == [False]
    assert _asked(None, inner) == [False, False]
    assert _asked(True, inner) == [True, True]
