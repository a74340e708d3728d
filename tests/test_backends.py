"""JAX and PyTorch give TensorFlow's numbers."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import keras_attention as ka
from keras_attention.serialization import EXPORTED
from tests import mechanisms

ROOT = Path(__file__).parents[1]


def _run(backend, folder):
    path = folder / f"{backend}.npz"
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.backends_script", path],
        env={
            **os.environ,
            "KERAS_BACKEND": backend,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr
    with np.load(path) as results:
        return dict(results)


@pytest.fixture(scope="module")
def by_tensorflow(tmp_path_factory):
    return _run("tensorflow", tmp_path_factory.mktemp("tensorflow"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_numbers_are_those_of_tensorflow(backend, by_tensorflow, tmp_path):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    results = _run(backend, tmp_path)
    assert set(results) == set(by_tensorflow)
    for key in by_tensorflow:
        name, blocks, *rest = key.split("/")
        if blocks == "tiny":  # Blocks change no number on this backend too.
            whole = "/".join((name, *rest))
            np.testing.assert_allclose(
                results[key], results[whole], rtol=1e-4, atol=1e-5, err_msg=key
            )
        np.testing.assert_allclose(
            results[key],
            by_tensorflow[key],
            rtol=1e-4,
            atol=1e-5,
            err_msg=f"{key} on {backend}",
        )


def test_every_public_class_runs_on_the_backends():
    layers = [mechanisms.make(name) for name in mechanisms.MECHANISMS]
    used = {type(part) for layer in layers for part in layer._flatten_layers()}
    assert used >= set(EXPORTED), set(EXPORTED) - used
    assert {cls.__name__ for cls in EXPORTED} <= set(ka.__all__)
