import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

ALPHA = [
    [0.372763, 0.277116, 0.350121, 0],
    [0.438622, 0.187136, 0.374242, 0],
]
SOURCE = batch(det((4, 2), 0.2, 1.0))
STATES = batch(det((2, 2), 0.5, 1.0))
MASK = np.array([[True, True, True, False]])


def worked():
    attend = ka.CoverageAttention(2)
    attend(STATES, SOURCE)
    score = attend.score
    assign(score, W=det((2, 2), 0.3).T, U=det((2, 2), 0.1).T)
    assign(score, b=det((2,), 0.4, 0.1), v=det((2, 1), 0.9, 2.0))
    assign(attend, w=det((1, 2), 0.7, 1.0))
    return attend


def test_worked_values():
    _, weights = worked()(
        STATES, SOURCE, value_mask=MASK, return_attention_scores=True
    )
    assert_worked(weights[0], ALPHA)


def test_a_padded_query_covers_nothing():
    attend = worked()
    states = np.repeat(STATES, 2, axis=1)
    mask = np.array([[True, False, True, False]])
    _, weights = attend(
        states,
        SOURCE,
        value_mask=MASK,
        query_mask=mask,
        return_attention_scores=True,
    )
    assert_worked(np.asarray(weights)[0, ::2], ALPHA)
    assert not np.asarray(weights)[0, 1::2].any()


def test_coverage_weight_of_zero_is_additive_attention():
    attend = worked()
    assign(attend, w=np.zeros((1, 2)))
    plain = ka.Attention(attend.score)
    expected = plain(STATES, SOURCE, value_mask=MASK)
    assert_worked(attend(STATES, SOURCE, value_mask=MASK), expected)


def test_units_are_positive():
    with pytest.raises(ValueError, match="`units` must be a positive integer"):
        ka.CoverageAttention(0)
