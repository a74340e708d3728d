import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

ANNOTATIONS = batch(det((3, 4), 0.2, 1.0))
STATE = batch(det((1, 3), 0.9, 0.8))


def _attend(**masks):
    attend = ka.BahdanauAttention(2)
    attend.build(STATE.shape, ANNOTATIONS.shape)
    assign(
        attend.score,
        W=det((2, 3), 0.1).T,
        U=det((2, 4), 0.5).T,
        v=det((2, 1), 0.3, 1.0),
    )
    scores = attend.score(STATE, ANNOTATIONS)
    assert_worked(scores, [[[0.367438, 0.610337, 0.637602]]])
    return attend(STATE, ANNOTATIONS, return_attention_scores=True, **masks)


@pytest.mark.parametrize(
    "visible, alpha, context",
    [
        (
            [True, True, True],
            [0.278931, 0.35562, 0.365449],
            [0.633925, 0.575171, -0.782141, -0.373622],
        ),
        (
            [True, True, False],
            [0.439572, 0.560428, 0],
            [0.455523, 0.787514, -0.658457, -0.617837],
        ),
        ([False, False, False], [0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_one_decoder_step(visible, alpha, context):
    actual_context, weights = _attend(value_mask=np.array([visible]))
    assert_worked(weights, [[alpha]])
    assert_worked(actual_context, [[context]])


def test_normalize_chooses_the_score():
    plain, normalized = ka.BahdanauAttention(2), ka.BahdanauAttention(2, True)
    assert type(plain.score) is ka.AdditiveScore
    assert type(normalized.score) is ka.NormalizedAdditiveScore
    with pytest.raises(ValueError, match="`normalize` must be True or False"):
        ka.BahdanauAttention(2, normalize=1)
