"""Monotonic attention, on the same weights; and where theirs is wrong."""

import numpy as np
import pytest

import keras_attention as ka
from tests.encoder_decoder.scored import dot, weights_of
from tests.oracles.tensorflow_addons import inputs, ours


@pytest.mark.parametrize("name", inputs.MECHANISMS)
@pytest.mark.parametrize("mode", ["recursive", "parallel"])
def test_both_modes_are_our_soft(addons, name, mode):
    weights = ours.ask(name, "soft", inputs.attention())
    ours.assert_equal(weights, addons["monotonic"][f"{name}-{mode}"])


@pytest.mark.parametrize("name", inputs.MECHANISMS)
def test_hard_until_a_step_stops_nowhere(addons, name):
    weights = np.asarray(ours.ask(name, "hard", inputs.attention()))
    theirs = addons["monotonic"][f"{name}-hard"]
    stops = theirs.sum(-1) > 0
    before = np.roll(stops, 1, axis=1)
    before[:, 0] = True
    assert before.mean() > 0.7
    assert np.unique(theirs[stops].argmax(-1)).size > 1
    ours.assert_equal(weights[before], theirs[before])


def test_theirs_is_stuck_after_a_step_that_stops_nowhere(addons):
    """Ours goes on from the last stop, as the paper has it."""
    p = inputs.stuck()
    attend = ka.MonotonicAttention(dot(), mode="hard")
    weights = weights_of(attend, np.where(p, 1, -1))
    nowhere = [0, 0, 0, 0]
    ours.assert_equal(weights, [[0, 1, 0, 0], nowhere, [0, 1, 0, 0]])
    theirs = addons["monotonic"]["stuck"]
    ours.assert_equal(theirs, [[0, 1, 0, 0], nowhere, nowhere])


def test_their_parallel_loses_attention_in_a_long_memory(addons):
    """Its products fall below 1e-10 before the place it goes on from."""
    p = inputs.long().astype("float64")
    expected = _recursion(p)
    ours.assert_equal(_soft(np.log(p / (1 - p))), expected)
    ours.assert_equal(addons["monotonic"]["long-recursive"], expected)
    theirs = addons["monotonic"]["long-parallel"]
    np.testing.assert_allclose(expected.sum(-1), [1, 1])
    np.testing.assert_allclose(theirs.sum(-1), [1, 0], atol=0.01)


def test_their_parallel_loses_attention_behind_a_sure_stop(addons):
    """A place before the one it goes on from makes its product 0."""
    scores = np.array([[-30, 30, -30], [30, 0, 0]])
    expected = [[0, 1, 0], [0, 0.5, 0.25]]
    ours.assert_equal(_recursion(inputs.sure()), expected)
    ours.assert_equal(_soft(scores), expected)
    ours.assert_equal(addons["monotonic"]["sure-recursive"], expected)
    theirs = addons["monotonic"]["sure-parallel"]
    ours.assert_equal(theirs, [[0, 1, 0], [0, 0, 0]])


def _soft(scores):
    return weights_of(ka.MonotonicAttention(dot(), mode="soft"), scores)


def _recursion(p):
    """Equation by equation."""
    before = np.eye(1, p.shape[1])[0]
    rows = []
    for row in p:
        q, a = 0.0, []
        for j in range(len(row)):
            q = (1 - row[j - 1]) * q + before[j] if j else before[0]
            a.append(row[j] * q)
        before = np.array(a)
        rows.append(before)
    return np.stack(rows)
