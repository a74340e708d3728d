import numpy as np

import keras_attention as ka
from tests.worked import assert_worked


def test_hand_values():
    scores = np.array([[[0.0, np.log(3.0), -np.log(3.0)]]], "float32")
    assert_worked(ka.SigmoidAlignment()(scores), [[[0.5, 0.75, 0.25]]])


def test_hidden_keys_get_nothing():
    mask = np.array([[[True, False, True], [False, False, False]]])
    weights = ka.SigmoidAlignment()(np.zeros((1, 2, 3)), mask)
    assert_worked(weights, [[[0.5, 0, 0.5], [0, 0, 0]]])


def test_huge_scores_do_not_overflow():
    weights = ka.SigmoidAlignment()(np.array([[[3e38, -3e38]]], "float32"))
    assert_worked(weights, [[[1, 0]]])
