"""What the stages share."""

import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.program_gradient import Differentiated
from keras_attention.stages import divided


def _both_orders(function, portions, total):
    with tf.GradientTape() as outer:
        outer.watch([portions, total])
        with tf.GradientTape() as tape:
            tape.watch([portions, total])
            quotient = function(portions, total)
            loss = tf.reduce_sum(tf.sin(quotient))
        first = tape.gradient(loss, [portions, total])
        loss = sum(tf.reduce_sum(tf.cos(x)) for x in first)
    return [quotient, *first, *outer.gradient(loss, [portions, total])]


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_quotient_and_its_gradients(jit_compile):
    random = np.random.default_rng(0)
    portions = tf.constant(random.normal(size=(2, 3, 4)))
    total = tf.constant(random.uniform(0.5, 2.0, (2, 3, 1)))
    compiled = tf.function(_both_orders, jit_compile=jit_compile)
    actual = compiled(lambda x, y: divided(x, y, "float64"), portions, total)
    for a, b in zip(
        actual, _both_orders(tf.divide, portions, total), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_what_is_divided_is_not_kept():
    """Only the scores' exponentials and their sums: the context is returned."""
    layer = ka.DotScore(), ka.SoftmaxAlignment(), ka.WeightedSumRead()
    score, alignment, read = layer

    def attend(query, value):
        portions, total = alignment.spread(score.compare(query, value), None)
        return divided(read.read(portions, value), total, "float32")

    given = [tf.ones((2, 6, 4)), tf.ones((2, 5, 4))]
    program = Differentiated(attend, given, (0, 1))
    context, *kept = [tuple(x.shape) for x in program._forward._program.outputs]
    assert context == (2, 6, 4)
    assert set(kept) == {(2, 6, 5), (2, 6, 1)}
