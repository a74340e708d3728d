"""What holds for whichever alignment."""

import numpy as np
import pytest

import keras_attention as ka


@pytest.mark.parametrize(
    "alignment",
    [ka.SoftmaxAlignment, ka.SparsemaxAlignment, ka.SigmoidAlignment],
)
def test_a_hidden_key_weighs_nothing_beside_a_broken_one(alignment):
    scores = np.array([[[np.nan, 1.0, 2.0]]], "float32")
    mask = np.array([[[True, True, False]]])
    weights = np.asarray(alignment()(scores, mask))
    assert np.isnan(weights[0, 0, 0])
    assert weights[0, 0, 2] == 0.0
