import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

QUERY = batch(det((2, 4), 0.2, 1.0))
MEMORY = batch(det((3, 4), 0.6, 1.0))


def _attend(query, memory, **kwargs):
    attend = ka.MultiHeadAttention(num_heads=2, key_dim=2, use_bias=False)
    attend.build(query.shape, memory.shape)
    assign(
        attend,
        W_Q=det((2, 4, 2), 0.1).transpose(1, 0, 2),
        W_K=det((2, 4, 2), 0.5).transpose(1, 0, 2),
        W_V=det((2, 4, 2), 0.9).transpose(1, 0, 2),
        W_O=det((4, 4), 0.3).reshape(2, 2, 4),
    )
    return attend(query, memory, return_attention_scores=True, **kwargs)


def test_cross_attention():
    output, weights = _attend(QUERY, MEMORY)
    expected = [
        [0.138076, -0.109755, -0.109794, 0.138048],
        [0.140178, -0.109044, -0.112078, 0.137925],
    ]
    assert_worked(output, [expected])
    expected = [
        [[0.344945, 0.332651, 0.322404], [0.337195, 0.333967, 0.328837]],
        [[0.342846, 0.332992, 0.324162], [0.336911, 0.334242, 0.328846]],
    ]
    assert_worked(weights, [expected])


def test_masked_key_and_a_query_that_sees_nothing():
    mask = np.array([[[True, True, False], [False, False, False]]])
    output, weights = _attend(QUERY, MEMORY, attention_mask=mask)
    expected = [[0.05669, -0.136768, -0.021446, 0.142294], [0, 0, 0, 0]]
    assert_worked(output, [expected])
    expected = [
        [[0.509072, 0.490928, 0], [0, 0, 0]],
        [[0.50729, 0.49271, 0], [0, 0, 0]],
    ]
    assert_worked(weights, [expected])


def test_causal():
    output, weights = _attend(MEMORY, MEMORY, use_causal_mask=True)
    expected = [
        [-0.038631, -0.153893, 0.078288, 0.133719],
        [0.05877, -0.136306, -0.023645, 0.1424],
        [0.144376, -0.107642, -0.116638, 0.137698],
    ]
    assert_worked(output, [expected])
    expected = [
        [[1, 0, 0], [0.496712, 0.503288, 0], [0.322608, 0.335441, 0.341951]],
        [[1, 0, 0], [0.497448, 0.502552, 0], [0.325342, 0.335551, 0.339107]],
    ]
    assert_worked(weights, [expected])


@pytest.mark.parametrize(
    "name", ["num_heads", "key_dim", "value_dim", "output_dim"]
)
@pytest.mark.parametrize("value", [0, 2.0, True])
def test_sizes_must_be_positive_integers(name, value):
    sizes = {"num_heads": 2, "key_dim": 2, name: value}
    expected = f"`{name}` must be a positive integer. Received: {name}={value}"
    with pytest.raises(ValueError, match=expected):
        ka.MultiHeadAttention(**sizes)
