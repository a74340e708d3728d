"""Tables of pairs without axes of 1."""

import re

import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka


@pytest.mark.parametrize(
    ("scores", "visible"),
    [
        ((1, 1, 4, 6), (1, 1, 4, 6)),
        ((1, 1, 4, 6), (1, 1, 1, 6)),
        ((1, 1, 4, 6), (1, 6)),
        ((1, 1, 4, 6), (4, 1)),
        ((1, 3, 4, 6), (1, 1, 1, 6)),
        ((2, 1, 4, 6), (1, 4, 6)),
        ((2, 1, 4, 6), (2, 3, 4, 6)),
        ((1, 1, 4, 6), (6,)),
        ((1, 4, 6), None),
        ((1, 1, 4, 6), (3, 1, 4, 6)),  # Broadcast to more than one.
        ((2, 1, 4, 6), (2, 1, 4, 6)),
        ((4, 6), (4, 6)),
    ],
    ids=str,
)
def test_a_single_table_has_the_weights_of_many(scores, visible):
    """Whatever the axes of the mask."""
    random = np.random.default_rng(0)
    e = tf.constant(random.normal(size=scores).astype("float32"))
    given = [e]
    if visible is not None:
        given.append(tf.constant(random.random(visible) < 0.7))
    weights = ka.SoftmaxAlignment()(*given)
    mask = True if visible is None else given[1].numpy()
    exponentials = np.where(mask, np.exp(e), 0.0)
    total = exponentials.sum(-1, keepdims=True)
    expected = exponentials / np.where(total > 0, total, 1.0)
    assert weights.shape == expected.shape
    np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-7)


def test_xla_writes_over_the_product_of_one_head():
    """Its exponentials have the shape of the product."""
    assert _exponentials((1, 1, 64, 64)) == {"64,64"}
    assert _exponentials((1, 3, 64, 64)) == {"3,64,64"}
    assert _exponentials((2, 3, 64, 64)) == {"2,3,64,64"}


def _exponentials(shape):
    """The shapes of those in the program of attention."""
    attend = ka.Attention(jit_compile=False)
    query = tf.ones((*shape[:-1], 8))
    traced = tf.function(attend, jit_compile=True)
    program = traced.experimental_get_compiler_ir(query, query)("optimized_hlo")
    return set(re.findall(r"f32\[([\d,]+)\]\S* exponential\(", program))


@pytest.mark.parametrize("batch", [1, 2])
def test_tables_of_unknown_sizes(batch):
    align = ka.SoftmaxAlignment(jit_compile=False)
    unknown = [
        tf.TensorSpec((1, None, None, 6), "float32"),
        tf.TensorSpec((1, 1, None, 6), "bool"),
    ]
    traced = tf.function(
        lambda *given: align(*given), unknown, jit_compile=True
    )
    e = tf.constant(np.random.default_rng(0).normal(size=(1, batch, 4, 6)))
    visible = tf.fill((1, 1, 4, 6), True)
    np.testing.assert_allclose(
        traced(tf.cast(e, "float32"), visible), tf.nn.softmax(e), rtol=1e-5
    )
