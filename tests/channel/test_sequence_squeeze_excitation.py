import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

X = batch(det((4, 3), 0.3, 1.0))
CONVOLVED = batch(
    [
        [-0.05245, -0.064262, 0.069009, 0.046479],
        [-0.115539, 0.398198, 0.012928, -0.401529],
        [0.275743, -0.050328, -0.262774, 0.118042],
        [-0.082326, -0.139273, 0.118215, 0.108811],
    ]
)


def _of_steps(mask=None):
    layer = ka.SequenceSqueezeExcitation("steps")
    layer.build(X.shape)
    assign(layer, W=det((4, 1), 0.2, 1.0), V=det((1, 4), 0.6, 1.0))
    return layer(X, mask=mask, return_attention_scores=True)


def test_steps_as_channels():
    y, s = _of_steps()
    assert_worked(s, [[0.564641, 0.585015, 0.413745, 0.43694]])
    expected = [
        [0.166863, 0.513426, -0.299167],
        [-0.452079, 0.426458, 0.342186],
        [-0.363969, -0.148215, 0.402163],
        [0.047082, -0.436841, 0.065487],
    ]
    assert_worked(y, [expected])


def test_hidden_steps_as_channels():
    mask = np.array([[True, True, True, False]])
    y, s = _of_steps(mask)
    z = X.mean(-1) * mask
    W, V = det((4, 1), 0.2, 1.0), det((1, 4), 0.6, 1.0)
    expected = mask / (1 + np.exp(-np.maximum(z @ W, 0) @ V))
    assert_worked(s, expected)
    assert_worked(y, X * expected[..., None])


def test_features_as_channels():
    layer = ka.SequenceSqueezeExcitation("features")
    layer.build(CONVOLVED.shape)
    assign(layer, W=det((4, 1), 0.7, 1.0), V=det((1, 4), 0.8, 1.0))
    y, s = layer(CONVOLVED, return_attention_scores=True)
    assert_worked(s, [[0.510072, 0.508403, 0.487763, 0.49475]])
    expected = [
        [-0.026753, -0.032671, 0.03366, 0.022995],
        [-0.058933, 0.202445, 0.006306, -0.198657],
        [0.140649, -0.025587, -0.128171, 0.058401],
        [-0.041992, -0.070807, 0.057661, 0.053834],
    ]
    assert_worked(y, [expected])


def test_mean_is_taken_over_visible_steps():
    mask = np.array([[True, True, True, False]])
    layer = ka.SequenceSqueezeExcitation("features", ratio=1)
    layer.build(CONVOLVED.shape)
    assign(layer, W=np.eye(4), V=np.eye(4))
    _y, s = layer(CONVOLVED, mask=mask, return_attention_scores=True)
    z = np.array([[0.035918, 0.094536, -0.060279, -0.079003]])
    assert_worked(s, 1 / (1 + np.exp(-np.maximum(z, 0))))


def test_biases():
    layer = ka.SequenceSqueezeExcitation(ratio=2, use_bias=True)
    layer.build((1, 4, 2))
    assign(layer, W=[[0], [0]], b=[1], V=[[1, 2]], c=[-1, -1])
    y = layer(np.ones((1, 4, 2)))
    assert_worked(y[0, 0], [0.5, 1 / (1 + np.exp(-1))])


def test_hidden_layer_has_at_least_one_unit():
    layer = ka.SequenceSqueezeExcitation(ratio=16)
    layer.build((None, None, 8))
    assert layer.W.shape == (8, 1)


def test_steps_need_a_known_length():
    expected = (
        "`SequenceSqueezeExcitation` has one weight per step of `inputs`, so "
        "its length must be known"
    )
    with pytest.raises(ValueError, match=expected):
        ka.SequenceSqueezeExcitation("steps").build((None, None, 8))


def test_channels_are_features_or_steps():
    expected = (
        "`channels` must be 'features' or 'steps'. Received: channels='time'"
    )
    with pytest.raises(ValueError, match=expected):
        ka.SequenceSqueezeExcitation("time")


def test_ratio_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="`ratio` must be a positive integer"):
        ka.SequenceSqueezeExcitation(ratio=0)


@pytest.mark.parametrize("channels", ["features", "steps"])
def test_a_visible_nan_stays_out_of_hidden_steps(channels):
    x = np.random.default_rng(0).normal(size=(2, 4, 6)).astype("float32")
    x[0, 1, 2] = np.nan
    mask = np.array([[True, True, False, True]] * 2)
    y = np.asarray(ka.SequenceSqueezeExcitation(channels)(x, mask=mask))
    np.testing.assert_array_equal(y[:, 2], np.zeros((2, 6)))
    assert np.isnan(y[0]).any() and np.isfinite(y[1]).all()
