import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

ALPHA = {
    1: [[0.546425, 0.453575], [0.4646, 0.5354]],
    2: [[0.513977, 0.486023], [0.523225, 0.476775]],
    3: [[0.534937, 0.465063], [0.525021, 0.474979]],
}
H_STAR = {
    1: [
        [0.381905, -0.320442],
        [0.00677, 0.007661],
        [0.440312, -0.424533],
        [-0.369922, 0.386813],
    ],
    2: [
        [-0.406701, 0.37677],
        [-0.687785, 0.700991],
        [-0.585066, 0.661358],
        [-0.326654, 0.512696],
    ],
    3: [
        [0.407285, -0.408764],
        [-0.611188, 0.664228],
        [-0.149916, -0.043769],
        [0.46323, -0.359722],
    ],
}


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_four_steps(parts):
    h = batch(det((4, 2 * parts), 0.3, 1.0))
    attend = ka.KeyValueAttention(window=2, parts=parts)
    attend.build(h.shape)
    assign(attend, R=det((2, 2), 0.5).T, X=det((2, 2), 0.7).T)
    assign(
        attend.score,
        U=det((2, 2), 0.1).T,
        W=det((2, 2), 0.3).T,
        v=det((2, 1), 0.9, 1.0),
    )
    h_star, weights = attend(h, return_attention_scores=True)
    (a, b), (c, d) = ALPHA[parts]
    alpha = [[0, 0, 0, 0], [1, 0, 0, 0], [a, b, 0, 0], [0, c, d, 0]]
    assert_worked(weights, [alpha])
    assert_worked(h_star, [H_STAR[parts]])


def test_parts_must_divide_the_size():
    expected = (
        "`inputs` must have a last axis that `parts` divides. Received: "
        "dim=5, parts=2"
    )
    with pytest.raises(ValueError, match=expected):
        ka.KeyValueAttention()(np.zeros((1, 3, 5)))


def test_at_most_three_parts():
    with pytest.raises(ValueError, match="`parts` must be 1 .* parts=4"):
        ka.KeyValueAttention(parts=4)


@pytest.mark.parametrize("name", ["window", "parts"])
def test_sizes_must_be_positive_integers(name):
    expected = f"`{name}` must be a positive integer. Received: {name}=0"
    with pytest.raises(ValueError, match=expected):
        ka.KeyValueAttention(**{name: 0})
