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


def _by_sorting(z):
    """The paper's algorithm 1."""
    z_sorted = np.sort(z)[..., ::-1]
    z_sum = np.cumsum(z_sorted, axis=-1)
    rank = np.arange(1, z.shape[-1] + 1)
    k = (1 + rank * z_sorted > z_sum).sum(axis=-1, keepdims=True)
    tau = (np.take_along_axis(z_sum, k - 1, axis=-1) - 1) / k
    return np.maximum(z - tau, 0)


@pytest.mark.parametrize("scale", [1e-3, 0.3, 3.0, 1e3])
def test_threshold_is_that_of_sorting(scale):
    z = scale * np.random.default_rng(0).normal(size=(2, 50, 200))
    weights = ka.SparsemaxAlignment(dtype="float64")(z)
    np.testing.assert_allclose(weights, _by_sorting(z), atol=1e-10)


def test_threshold_of_scores_that_fall_out_one_by_one():
    """Each lower bound excludes few scores: the slowest case."""
    z = -(0.5 ** np.arange(40.0)) - np.zeros((1, 1, 40))
    weights = ka.SparsemaxAlignment(dtype="float64")(z)
    np.testing.assert_allclose(weights, _by_sorting(z), atol=1e-12)


def test_nan_reaches_its_row_alone():
    weights = ka.SparsemaxAlignment()(np.array([[[np.nan, 1, 2], [1, 2, 3]]]))
    assert np.isnan(weights[0, 0]).all()
    assert_worked(weights[0, 1], [0, 0, 1])
