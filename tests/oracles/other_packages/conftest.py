"""The packages and copied layers, run once with Keras 2 and once with 3."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

from tests.oracles.other_packages import inputs

ROOT = pathlib.Path(__file__).parents[3]
THEIRS = "tests.oracles.other_packages.theirs"
IS_LEGACY = {"keras_2": "1", "keras_3": "0"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Of a model's files, by its name and the version of Keras."""
    written = {}

    def get(name, version):
        needed = [inputs.PACKAGES[name]]
        needed += ["tf_keras"] if version == "keras_2" else []
        for package in filter(None, needed):
            if not _has(package):
                pytest.skip(f"{package} is not installed: extra `migration`")
        if version not in written:
            written[version] = tmp_path_factory.mktemp(version)
            _run(written[version], version)
        return written[version]

    return get


def _has(package):
    return package is None or importlib.util.find_spec(package) is not None


def _run(folder, version):
    names = [x for x in inputs.names(version) if _has(inputs.PACKAGES[x])]
    done = subprocess.run(
        [sys.executable, "-m", THEIRS, folder, version, *names],
        cwd=ROOT,
        env={
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_USE_LEGACY_KERAS": IS_LEGACY[version],
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
