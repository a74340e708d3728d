import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding import strategies
from keras_attention.decoding.strategies import Hypotheses, Sample

PROBABILITIES = np.array([0.5, 0.3, 0.15, 0.05])


def drawn(sample, count=20000):
    """How often each token is chosen."""
    log_probs = tf.constant(np.log(PROBABILITIES), "float32")
    log_probs = tf.tile(log_probs[None, None], (count, 1, 1))
    noise = np.random.default_rng(0).uniform(size=(count, 1))
    so_far = Hypotheses(*[tf.zeros((count, 1))] * 3)
    _, token, total = sample.choose(
        log_probs, so_far, tf.constant(noise, "float32")
    )
    token = token.numpy()[:, 0]
    # Whatever is drawn from, the log-probability is the model's own.
    np.testing.assert_allclose(
        total[:, 0], np.log(PROBABILITIES)[token], rtol=1e-5
    )
    return np.bincount(token, minlength=4) / count


@pytest.mark.parametrize(
    "sample, expected",
    [
        (Sample(), [0.5, 0.3, 0.15, 0.05]),
        (Sample(top_k=2), [0.625, 0.375, 0, 0]),
        (Sample(top_k=9), [0.5, 0.3, 0.15, 0.05]),
        (Sample(top_p=0.6), [0.625, 0.375, 0, 0]),
        (Sample(top_p=0.5), [1, 0, 0, 0]),
        (Sample(top_p=0.81), [0.526, 0.316, 0.158, 0]),
        (Sample(top_p=1.0), [0.5, 0.3, 0.15, 0.05]),
        (Sample(temperature=0.5), [0.685, 0.247, 0.062, 0.007]),
        (Sample(temperature=1e-3), [1, 0, 0, 0]),
        (Sample(top_k=3, top_p=0.6), [0.625, 0.375, 0, 0]),
    ],
)
def test_tokens_come_as_often_as_they_should(sample, expected):
    np.testing.assert_allclose(drawn(sample), expected, atol=0.01)


def test_an_impossible_token_is_never_drawn():
    portions = tf.constant([[0.0, 1.0, 0.0, 2.0, 0.0]])
    for noise in (0.0, 0.3, 1.0 - 2**-24):
        token = strategies.draw(portions, tf.constant([noise]))
        assert int(token[0]) in (1, 3)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"temperature": 0.0}, "`temperature` must be above 0"),
        ({"temperature": "hot"}, "`temperature` must be a finite number"),
        ({"top_k": 0}, "`top_k` must be a positive integer"),
        ({"top_p": 0.0}, "`top_p` must be a probability"),
        ({"top_p": 1.5}, "`top_p` must be a probability"),
        ({"seed": -1}, "`seed` must be a non-negative integer"),
    ],
)
def test_bad_options_of_sampling(options, message):
    with pytest.raises(ValueError, match=message):
        Sample(**options)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"width": 0}, "`width` must be a positive integer"),
        ({"length_penalty": -1.0}, "`length_penalty` must be a finite"),
        ({"coverage_penalty": -1.0}, "`coverage_penalty` must be a finite"),
    ],
)
def test_bad_options_of_a_beam(options, message):
    with pytest.raises(ValueError, match=message):
        strategies.Beam(**options)


def test_names():
    assert strategies.get("beam", width=2) == strategies.Beam(2)
    assert strategies.get("greedy") == strategies.Greedy()
    own = Sample(top_k=2)
    assert strategies.get(own) is own


def test_unknown_name_and_options():
    with pytest.raises(ValueError, match="`strategy` must be a Strategy or"):
        strategies.get("best")
    with pytest.raises(ValueError, match="`width` is no option of"):
        strategies.get("greedy", width=3)
    with pytest.raises(ValueError, match="`width` is no option of"):
        strategies.get(Sample(), width=3)
