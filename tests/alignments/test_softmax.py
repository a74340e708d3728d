import numpy as np

import keras_attention as ka
from tests.worked import assert_worked

SCORES = np.array([[[2, 1, 0], [2, 1, 0], [-60, -61, 5]]], "float32")
MASK = np.array([[[1, 1, 0], [0, 0, 0], [1, 1, 0]]], bool)


def test_masked_rows():
    """Row 2 sees nothing; in row 3 a hidden score dwarfs the visible ones."""
    expected = [[[0.731059, 0.268941, 0], [0, 0, 0], [0.731059, 0.268941, 0]]]
    weights = ka.SoftmaxAlignment()(SCORES, MASK)
    assert_worked(weights, expected)
    np.testing.assert_array_equal(np.asarray(weights)[~MASK], 0.0)


def test_huge_scores_do_not_overflow():
    weights = ka.SoftmaxAlignment()(np.array([[[3e38, 0, -3e38]]], "float32"))
    assert_worked(weights, [[[1, 0, 0]]])


def test_one_key_gets_everything_without_a_warning():
    assert_worked(
        ka.SoftmaxAlignment()(np.zeros((1, 2, 1))), np.ones((1, 2, 1))
    )
