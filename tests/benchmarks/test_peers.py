"""Each mechanism and its peer do the same, forward and in training."""

import importlib.util
import sys

import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from benchmarks import peers, sides, ways
from benchmarks.cases import Size
from keras_attention import compilation
from keras_attention.serialization import EXPORTED

SIZE = Size(batch=2, steps=26, dim=8, heads=2)


@pytest.fixture(scope="module")
def plain_ops():
    """Whether XLA compiles does not change what is computed; it takes time."""
    enabled = compilation.is_enabled()
    compilation.set_jit_compile(False)
    yield
    compilation.set_jit_compile(enabled)


def _built(name):
    try:
        return peers.build(name, SIZE)
    except peers.PeerNotInstalled as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", peers.PEERS)
def test_same_output_and_same_train_step(name, plain_ops):
    ours, theirs = _built(name)
    x = ways.inputs_of(ours, SIZE.batch)
    x = x if len(x) > 1 else x[0]
    _assert_equal(_output(ours, x), _output(theirs, x))
    _assert_equal(_train_step(ours, x), _train_step(theirs, x))
    _assert_equal(_train_step(ours, x), _train_step(theirs, x))
    _assert_equal(_output(ours, x), _output(theirs, x))


def _output(model, x):
    if isinstance(model, peers.OtherModel):
        return model.output()
    return np.asarray(model(x))


def _train_step(model, x):
    """The loss, before a step of SGD."""
    if isinstance(model, peers.OtherModel):
        model.train_step()
        return model.loss
    weights = [weight.value for weight in model.trainable_weights]
    assert weights
    with tf.GradientTape() as tape:
        output = model(x)
        loss = tf.reduce_mean(tf.square(output - ways.like(output)))
    for w, step in zip(weights, tape.gradient(loss, weights), strict=True):
        w.assign_sub(ways.LEARNING_RATE * step)
    return loss


def _assert_equal(ours, theirs):
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", ["predict", "fit"])
@pytest.mark.parametrize("name", ["feed_forward", "luong_general_many_to_one"])
def test_sides_are_timed_and_compared(name, way):
    _built(name)
    compared = peers.sides(name, SIZE, way)
    results = {}
    for which, side in compared.items():
        returned = side.run()
        if which != "start":  # Does nothing that could be compared.
            results[which] = side.results(returned)
        assert side.timed(2)() > 0
    assert list(results) == ["ours", "peer"]
    sides.check_equal(results)


@pytest.mark.skipif(
    importlib.util.find_spec("keras_self_attention") is None,
    reason="keras-self-attention is not installed",
)
def test_every_public_class_has_a_peer(plain_ops):
    # Their peers are in another process, and tested above.
    elsewhere = {ka.MultiHeadAttention, ka.MonotonicAttention}
    parts = set()
    for name, peer in peers.PEERS.items():
        if peer.build.__module__ != "benchmarks.peers_elsewhere":
            ours, _theirs = peers.build(name, SIZE)
            parts |= {type(part) for part in ours._flatten_layers()}
    assert set(EXPORTED) - elsewhere <= parts


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_self_attention", None)
    with pytest.raises(peers.PeerNotInstalled, match="keras_self_attention"):
        peers.build("local_monotonic", SIZE)
