import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, batch, det

SOURCE = batch(det((7, 2), 0.2, 1.0))
STATES = np.full((1, 10, 2), [0.6, -0.4], "float32")
WORKED = {
    0: ([0.259006, 0.359087, 0.381906, 0, 0, 0, 0], [0.14346, 0.199433]),
    3: (
        [0, 0.209886, 0.223223, 0.142927, 0.318238, 0.105727, 0],
        [0.130378, -0.019921],
    ),
    6: ([0, 0, 0, 0, 0.386296, 0.128338, 0.485366], [0.714161, -0.061305]),
    9: ([0, 0, 0, 0, 0.386296, 0.128338, 0.485366], [0.714161, -0.061305]),
}


@pytest.mark.parametrize("t", WORKED)
def test_window_at_each_place(t):
    attend = ka.LocalMonotonicAttention(radius=2, score="dot")
    context, weights = attend(STATES, SOURCE, return_attention_scores=True)
    assert_worked(weights[0, t], WORKED[t][0])
    assert_worked(context[0, t], WORKED[t][1])


@pytest.mark.parametrize("t", WORKED)
def test_step_by_step_with_positions(t):
    attend = ka.LocalMonotonicAttention(radius=2, score="dot")
    context, weights = attend(
        STATES[:, :1],
        SOURCE,
        positions=np.array([[t]]),
        return_attention_scores=True,
    )
    assert_worked(weights[0, 0], WORKED[t][0])
    assert_worked(context[0, 0], WORKED[t][1])


def test_length_is_that_of_the_example():
    """A query behind the true end looks at the last window of real keys."""
    attend = ka.LocalMonotonicAttention(radius=2, score="dot")
    mask = np.arange(7)[None] < 5
    padded = attend(STATES, SOURCE, value_mask=mask)
    short = attend(STATES, SOURCE[:, :5])
    assert_worked(padded, short)


@pytest.mark.parametrize("radius", [-1, 1.5, True])
def test_radius_must_be_a_non_negative_integer(radius):
    expected = "`radius` must be a non-negative integer. Received: radius="
    with pytest.raises(ValueError, match=expected):
        ka.LocalMonotonicAttention(radius)


def test_radius_zero_copies_the_value_at_its_place():
    attend = ka.LocalMonotonicAttention(radius=0, score="dot")
    assert_worked(attend(STATES[:, :7], SOURCE), SOURCE)
