import numpy as np
import pytest

import keras_attention as ka
from tests.encoder_decoder.scored import dot, weights_of
from tests.worked import assert_worked

SCORES = np.array([[3.0, 1, 0, 0], [3, 1, 2, 0], [9, 9, 9, 1]])
WORKED = [
    [0.809776, 0.109591, 0.040316, 0.040316],
    [0.643914, 0.087144, 0.236883, 0.032059],
    [0.333296, 0.333296, 0.333296, 0.000112],
]


def test_worked_values():
    assert_worked(weights_of(ka.ForwardMaskAttention(dot()), SCORES), WORKED)


def test_never_looks_back():
    scores = np.array([[0.0, 0, 5, 0], [9, 9, 0, 1], [9, 9, 9, 0]])
    weights = weights_of(ka.ForwardMaskAttention(dot()), scores)
    assert not weights[1, :2].any()
    assert not weights[2, :3].any()
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-6)


def test_a_query_that_sees_nothing_does_not_send_it_back():
    scores = np.array([[0.0, 5, 0], [0, 0, 0], [9, 0, 0]])
    pairs = np.ones((1, 3, 3), bool)
    pairs[0, 1] = False
    attend = ka.ForwardMaskAttention(dot())
    weights = weights_of(attend, scores, attention_mask=pairs)
    assert not weights[1].any()
    assert_worked(weights[2], [0, 0.5, 0.5])


def test_unknown_score():
    with pytest.raises(ValueError, match="`score` must be a Score or one of"):
        ka.ForwardMaskAttention("nearest")
