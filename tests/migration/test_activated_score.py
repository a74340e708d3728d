import numpy as np
from keras import ops

import keras_attention as ka
from keras_attention.migration.keras_self_attention import ActivatedScore
from keras_attention.testing import check_layer
from tests.worked import assert_worked, assign, det


def test_sigmoid_of_the_inner_score_and_b():
    query, key = det((1, 2, 3)), det((1, 4, 3), 0.1)
    score = ActivatedScore("dot")
    found = score(query, key)
    assign(score, b=[0.5])
    inner = np.einsum("bqd,bkd->bqk", query, key)
    assert_worked(found, ops.sigmoid(inner))
    assert_worked(score(query, key), ops.sigmoid(inner + 0.5))


def test_keeps_the_promises_of_a_score():
    check_layer(
        lambda: ActivatedScore(ka.AdditiveScore(3, use_bias=True), "tanh"),
    )
