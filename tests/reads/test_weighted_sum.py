import numpy as np

import keras_attention as ka
from tests.worked import assert_worked


def test_hand_values():
    weights = np.array([[[0.5, 0.5, 0], [0, 0.25, 2]]], "float32")
    value = np.array([[[1, 2], [3, 4], [5, 6]]], "float32")
    expected = [[[2, 3], [10.75, 13]]]
    assert_worked(ka.WeightedSumRead()(weights, value), expected)


def test_no_values_give_zeros():
    context = ka.WeightedSumRead()(np.zeros((1, 2, 0)), np.zeros((1, 0, 4)))
    assert_worked(context, np.zeros((1, 2, 4)))
