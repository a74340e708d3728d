import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention.encoder_decoder.forward import stay_or_move
from keras_attention.stages import HIDDEN
from tests.encoder_decoder.scored import dot, weights_of
from tests.worked import assert_worked

SCORES = np.array([[1.0, 2, 0, 0], [0, 1, 2, 0]])
WORKED = [[0.268941, 0.731059, 0, 0], [0.032059, 0.324027, 0.643914, 0]]
WITH_AGENT = [0.461898, 0.538102, 0, 0]


def test_worked_values():
    assert_worked(weights_of(ka.ForwardAttention(dot()), SCORES), WORKED)


def test_worked_transition():
    """With u = 0.3."""
    with np.errstate(divide="ignore"):
        before = np.maximum(np.log(np.eye(1, 4)), HIDDEN)
    prior = stay_or_move(before, np.log([[0.3 / 0.7]]))
    portions = np.exp(np.asarray(prior) + SCORES[0])
    assert_worked((portions / portions.sum())[0], WITH_AGENT)


def test_transition_agent_uses_the_step_before():
    attend = ka.ForwardAttention(dot(), transition_agent=True)
    query = np.array([[[1.0, 0], [0, 1]]], "float32")
    value = SCORES.T[None].astype("float32")
    attend(query, value)
    w, b = np.array([[0.3], [-0.2], [0.5], [0.1]]), np.array([0.4])
    attend.w.assign(w)
    attend.b.assign(b)
    context, weights = attend(query, value, return_attention_scores=True)
    assert_worked(weights[0, 0], WORKED[0])  # u_0 = 1/2.
    seen = np.concatenate([context[0, 0], query[0, 0]])
    u = 1 / (1 + np.exp(-(seen @ w + b)))
    before = np.asarray(weights[0, 0], "float64")
    portions = _moved_on(before, u) * np.exp(SCORES[1])
    assert_worked(weights[0, 1], portions / portions.sum())


def _moved_on(before, u=0.5):
    return (1 - u) * before + u * np.pad(before, (1, 0))[:-1]


@pytest.mark.parametrize("agent", [False, True])
def test_places_far_ahead_do_not_underflow(agent):
    """The 20th is all that counts in the end, where float32 had made it 0."""
    scores = np.zeros((30, 25))
    scores[:20, 0], scores[20:, 20] = 10, 60
    before, expected = np.eye(25)[0], []
    for row in scores:
        portions = _moved_on(before) * np.exp(row)
        before = portions / portions.sum()
        expected.append(before)
    assert 0 < expected[19][20] < 1e-80 and expected[-1][20] > 0.9
    attend = ka.ForwardAttention(dot(), transition_agent=agent)
    weights = weights_of(attend, scores)
    if agent:
        attend.w.assign(np.zeros(attend.w.shape))  # Then u is 1/2.
        weights = weights_of(attend, scores)
    np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-6)


def test_gradient_of_staying_and_moving_that_are_equally_likely():
    before, move = (tf.constant([[x, x]], "float64") for x in (-0.3, 0.0))
    with tf.GradientTape() as tape:
        tape.watch(before)
        prior = stay_or_move(before, move[:, :1])[0, 1]
    np.testing.assert_allclose(tape.gradient(prior, before), [[0.5, 0.5]])


def test_scores_far_apart_do_not_end_it():
    """As a product in float32 the weights are 0 / 0 from here on."""
    scores = np.array([[0, -200.0, 0], [-200, -300, 300]])
    weights = weights_of(ka.ForwardAttention(dot()), scores)
    np.testing.assert_allclose(weights.sum(-1), 1.0)


def test_reading_begins_at_the_first_visible_key():
    wide = np.pad(SCORES, [(0, 0), (2, 1)], constant_values=5.0)
    mask = np.array([[0, 0, 1, 1, 1, 1, 0]], bool)
    weights = weights_of(ka.ForwardAttention(dot()), wide, value_mask=mask)
    assert_worked(weights[:, 2:6], WORKED)


def test_transition_agent_is_a_boolean():
    with pytest.raises(ValueError, match="`transition_agent` must be True or"):
        ka.ForwardAttention(transition_agent=1)
