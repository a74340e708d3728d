import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked


@pytest.mark.parametrize(
    "scores, expected",
    [
        ([0.4, 0.2, -3.0], [0.6, 0.4, 0.0]),
        ([0.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
        ([3.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        ([1.0, 0.5, 0.25], [0.75, 0.25, 0.0]),
        ([1.1, 1.0, 0.9, 0.8], [0.4, 0.3, 0.2, 0.1]),
        ([1e6, 1e6 - 0.5, 0.0], [0.75, 0.25, 0.0]),
    ],
)
def test_hand_values(scores, expected):
    weights = ka.SparsemaxAlignment()(np.array([[scores]], "float32"))
    assert_worked(weights, [[expected]])


def test_hidden_keys_get_nothing_and_the_rest_sums_to_one():
    scores = np.array([[[0.4, 9.0, 0.2], [0.4, 9.0, 0.2]]], "float32")
    mask = np.array([[[True, False, True], [False, False, False]]])
    weights = ka.SparsemaxAlignment()(scores, mask)
    assert_worked(weights, [[[0.6, 0, 0.4], [0, 0, 0]]])
