"""tensorflow-addons 0.23, run once for all tests of this folder."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[3]
THEIRS = "tests.oracles.tensorflow_addons.theirs"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where tensorflow-addons wrote what it finds."""
    if importlib.util.find_spec("tensorflow_addons") is None:
        pytest.skip(
            "tensorflow-addons is not installed (no wheel from Python 3.12 on)"
        )
    folder = tmp_path_factory.mktemp("tensorflow_addons")
    done = subprocess.run(
        [sys.executable, "-m", THEIRS, folder],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def addons(folder):
    """What tensorflow-addons finds, by kind and name."""
    return {path.stem: dict(np.load(path)) for path in folder.glob("*.npz")}
