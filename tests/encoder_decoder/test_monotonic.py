import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention.encoder_decoder.monotonic import expected_stop, first_stop
from tests.encoder_decoder.scored import dot, weights_of
from tests.worked import assert_worked

P = np.array([[0.1, 0.6, 0.3, 0.9], [0.2, 0.5, 0.7, 0.4]])
SOFT = [[0.1, 0.54, 0.108, 0.2268], [0.02, 0.31, 0.2926, 0.14088]]
Z = np.array([[0.1, 0.6, 0.3, 0.9], [0.2, 0.4, 0.7, 0.4], [0.9, 0.1, 0.1, 0.2]])
HARD = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def logit(p):
    return np.log(p) - np.log1p(-np.asarray(p))


def recursion(p, before):
    """Equation by equation, in float64."""
    q, rows = 0.0, []
    for j in range(len(p)):
        q = (1 - p[j - 1]) * q + before[j] if j else before[0]
        rows.append(p[j] * q)
    return np.array(rows)


def test_worked_soft():
    assert_worked(weights_of(ka.MonotonicAttention(dot()), logit(P)), SOFT)


def test_worked_hard():
    attend = ka.MonotonicAttention(dot(), mode="hard")
    assert_worked(weights_of(attend, logit(Z)), HARD)


def test_after_a_query_that_stops_nowhere_reading_goes_on_from_its_place():
    """TensorFlow Addons gives zeros for ever."""
    scores = np.array([[-1, 1, -1], [-1, -1, -1], [1, -1, 1]])
    attend = ka.MonotonicAttention(dot(), mode="hard")
    expected = [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert_worked(weights_of(attend, scores), expected)


@pytest.mark.parametrize("steps", [1, 2, 3, 64, 1000])
def test_soft_is_the_recursion_for_any_length(steps):
    """The closed form with products clipped at 1e-10 is far off at 1000."""
    rng = np.random.default_rng(steps)
    p = rng.uniform(0.01, 0.99, (5, steps))
    before = expected = np.eye(1, steps)[0]
    for row in p:
        expected = recursion(row, expected)
        before = expected_stop(row[None], before[None])[0]
        np.testing.assert_allclose(before, expected, rtol=1e-9, atol=1e-30)


def test_unknown_length_is_the_same():
    import tensorflow as tf

    p = np.random.default_rng(0).uniform(0.1, 0.6, (1, 70)).astype("float32")
    start = np.eye(1, 70, dtype="float32")
    traced = tf.function(
        expected_stop, input_signature=[tf.TensorSpec((1, None))] * 2
    )
    np.testing.assert_allclose(traced(p, start), expected_stop(p, start))


def test_hard_stops_once():
    stops = np.array([[1.0, 1, 0, 1]])
    from_second = np.array([[0.0, 1, 0, 0]])
    assert first_stop(stops, from_second).numpy().tolist() == [[0, 1, 0, 0]]


def test_hidden_keys_are_passed_by():
    """In front, in the middle and behind."""
    wide = np.full((2, 7), 9.0)
    wide[:, [1, 2, 4, 5]] = logit(P)
    mask = np.array([[0, 1, 1, 0, 1, 1, 0]], bool)
    attend = ka.MonotonicAttention(dot())
    weights = weights_of(attend, wide, value_mask=mask)
    assert_worked(weights[:, mask[0]], SOFT)
    assert not weights[:, ~mask[0]].any()


def test_bias_moves_every_score():
    attend = ka.MonotonicAttention(dot(), initial_bias=-4.0)
    assert_worked(weights_of(attend, logit(P) + 4.0), SOFT)


def test_noise_only_in_training_and_as_large_as_told():
    attend = ka.MonotonicAttention(dot(), score_noise=2.0, seed=1)
    scores = np.zeros((1, 4000)) - 30.0  # p = exp(score), nearly.
    calm = weights_of(attend, scores)
    assert_worked(calm, np.exp(scores))
    query = np.ones((1, 1, 1), "float32")
    _, loud = attend(
        query,
        scores[0][None, :, None].astype("float32"),
        return_attention_scores=True,
        training=True,
    )
    noise = np.log(np.asarray(loud)[0, 0]) + 30.0
    assert abs(noise.mean()) < 0.15
    assert abs(noise.std() - 2.0) < 0.1


def test_learns_to_stop_where_the_target_is():
    """From left to right, a place per query: a copy."""
    keras.utils.set_random_seed(0)
    query, value = keras.Input((6, 12)), keras.Input((6, 12))
    attend = ka.MonotonicAttention("general", initial_bias=-1.0)
    model = keras.Model([query, value], attend(query, value))
    model.compile(keras.optimizers.Adam(0.1), "mse")
    rng = np.random.default_rng(0)
    places = np.broadcast_to(np.eye(6, dtype="float32"), (32, 6, 6))
    values = np.concatenate([places, rng.normal(size=(32, 6, 6))], -1)
    asked = np.concatenate([places, np.zeros_like(places)], -1)
    values = values.astype("float32")
    history = model.fit(
        [asked, values], values, epochs=150, batch_size=32, verbose=0
    )
    loss = history.history["loss"]
    assert loss[-1] < 0.02 * loss[0]


@pytest.mark.parametrize("mode", ["parallel", "", None])
def test_mode_is_one_of_two(mode):
    with pytest.raises(ValueError, match="`mode` must be 'soft' or 'hard'"):
        ka.MonotonicAttention(mode=mode)


def test_noise_is_not_negative():
    with pytest.raises(ValueError, match="`score_noise` must be a finite"):
        ka.MonotonicAttention(score_noise=-1.0)
