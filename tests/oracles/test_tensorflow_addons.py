"""tensorflow-addons 0.23, executed on the same weights and inputs."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assign

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_addons") is None,
    reason="tensorflow-addons is not installed (no wheel from Python 3.12 on)",
)
SCRIPT = Path(__file__).with_name("tensorflow_addons_script.py")
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
B, T, S, D = 2, 3, 5, 4


def _given():
    random = np.random.default_rng(1)

    def normal(*shape):
        return random.normal(size=shape).astype("float32")

    pairs = random.random((B, 1, T, S)) < 0.6
    pairs[..., 0] = True
    return {
        "query": normal(B, T, D),
        "value": normal(B, S, 6),
        "lengths": np.array([3, 5], "int32"),
        "luong_W": normal(D, 6),
        "luong_g": np.float32(0.7),
        "bahdanau_W": normal(D, 8),
        "bahdanau_U": normal(6, 8),
        "bahdanau_v": normal(8),
        "bahdanau_g": np.float32(1.3),
        "bahdanau_b": normal(8),
        "scores": normal(B, T, S) * 2,
        "heads_Q": normal(D, 2, 3),
        "heads_K": normal(6, 2, 3),
        "heads_V": normal(6, 2, 3),
        "heads_O": normal(2, 3, 7),
        "heads_b": normal(7),
        "pairs": pairs,
    }


@pytest.fixture(scope="module")
def given():
    return _given()


@pytest.fixture(scope="module")
def theirs(given, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tensorflow_addons")
    np.savez(folder / "in.npz", **given)
    done = subprocess.run(
        [sys.executable, SCRIPT, folder / "in.npz", folder / "out.npz"],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npz")


def _attend(layer, given, **weights):
    query, value = given["query"], given["value"]
    layer.build(query.shape, value.shape)
    assign(layer.score, **weights)
    mask = np.arange(S) < given["lengths"][:, None]
    _context, weights = layer(
        query, value, value_mask=mask, return_attention_scores=True
    )
    return weights


def test_luong(given, theirs):
    ours = _attend(ka.LuongAttention("general"), given, W=given["luong_W"])
    np.testing.assert_allclose(ours, theirs["luong"], **CLOSE)


def test_luong_scaled(given, theirs):
    """Their factor `g` is a part of our `W`."""
    scaled = given["luong_g"] * given["luong_W"]
    ours = _attend(ka.LuongAttention("general"), given, W=scaled)
    np.testing.assert_allclose(ours, theirs["luong_scaled"], **CLOSE)


def test_bahdanau(given, theirs):
    ours = _attend(
        ka.BahdanauAttention(8),
        given,
        W=given["bahdanau_W"],
        U=given["bahdanau_U"],
        v=given["bahdanau_v"][:, None],
    )
    np.testing.assert_allclose(ours, theirs["bahdanau"], **CLOSE)


def test_bahdanau_normalized(given, theirs):
    ours = _attend(
        ka.BahdanauAttention(8, normalize=True),
        given,
        W=given["bahdanau_W"],
        U=given["bahdanau_U"],
        v=given["bahdanau_v"][:, None],
        g=given["bahdanau_g"],
        b=given["bahdanau_b"],
    )
    np.testing.assert_allclose(ours, theirs["bahdanau_normalized"], **CLOSE)


def test_sparsemax(given, theirs):
    ours = ka.SparsemaxAlignment()(given["scores"])
    np.testing.assert_allclose(ours, theirs["sparsemax"], **CLOSE)


def test_multi_head(given, theirs):
    """Theirs has one bias, behind the last projection."""
    layer = ka.MultiHeadAttention(2, 3, output_dim=7)
    query, value = given["query"], given["value"]
    layer.build(query.shape, value.shape)
    letters = {f"W_{x}": given[f"heads_{x}"] for x in "QKVO"}
    assign(layer, **letters, b_O=given["heads_b"])
    output, weights = layer(
        query,
        value,
        attention_mask=given["pairs"],
        return_attention_scores=True,
    )
    np.testing.assert_allclose(output, theirs["multi_head"], **CLOSE)
    np.testing.assert_allclose(weights, theirs["multi_head_weights"], **CLOSE)
