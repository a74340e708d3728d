import keras_attention as ka
from tests.scores.memory import KEYS, QUERY
from tests.worked import assert_worked


def test_scores():
    expected = [[[0.57735, 0.57735, 0.288675]]]
    assert_worked(ka.ScaledDotScore()(QUERY, KEYS), expected)


def test_attention():
    context, weights = ka.Attention("scaled_dot")(
        QUERY, KEYS, return_attention_scores=True
    )
    assert_worked(weights, [[[0.363735, 0.363735, 0.27253]]])
    assert_worked(context, [[[0.636265, 1, 0.27253]]])
