import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

SOURCE = batch(det((3, 3), 0.2, 1.0))


@pytest.mark.parametrize(
    "state, alpha, context",
    [
        (
            [0.428053, -0.23598, -0.166366],
            [0.496714, 0.276781, 0.226505],
            [-0.319181, 0.550034, 0.177443],
        ),
        (
            [-0.407122, -0.011409, -0.082587],
            [0.272848, 0.32555, 0.401603],
            [-0.549195, 0.291498, 0.474079],
        ),
    ],
)
def test_two_decoder_steps(state, alpha, context):
    query = batch([state])
    attend = ka.LuongAttention("general")
    attend.build(query.shape, SOURCE.shape)
    assign(attend.score, W=det((3, 3), 0.4))
    actual_context, weights = attend(
        query, SOURCE, return_attention_scores=True
    )
    assert_worked(weights, [[alpha]])
    assert_worked(actual_context, [[context]])


def test_unknown_score_is_named():
    with pytest.raises(ValueError, match="`score` must be a Score or one of "):
        ka.LuongAttention("soft")
