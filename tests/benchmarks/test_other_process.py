"""A peer in another process: what is asked, answered, and goes wrong."""

import json
import sys

import numpy as np
import pytest

from benchmarks import other_process
from benchmarks.other_process import OtherModel, OtherProcess

X = np.arange(3, dtype="float32")

CHILD = """
import os, time
import numpy as np
from benchmarks import serving

print("chatter of a library")

class Scaled:
    def __init__(self, arrays, settings):
        self.x, self.w = arrays["input_0"], arrays["w"]
        self.loss = settings["loss"]
    def how(self, what):
        return "slowly" if what == "forward" else "by hand"
    def forward(self):
        time.sleep(0.01)
        print("more chatter")
        return self.x * self.w
    def train_step(self):
        self.loss /= 2
        return self.loss

def missing(arrays, settings):
    import a_package_that_nobody_wrote

def wrong(arrays, settings):
    raise ValueError("weights do not fit")

def dying(arrays, settings):
    os.write(2, b"out of luck")
    os._exit(3)

def sleeping(arrays, settings):
    time.sleep(60)

serving.serve({case.__name__: case for case in
               (Scaled, missing, wrong, dying, sleeping)})
"""
COMMAND = (sys.executable, "-c", CHILD)


@pytest.fixture
def process():
    with OtherProcess(COMMAND, timeout=120) as process:
        yield process


def _model(process, case="Scaled", w=2.0):
    weights = {"w": np.float32(w)}
    return OtherModel(case, [X], X, weights, {"loss": 8.0}, process)


def test_model(process):
    model = _model(process)
    np.testing.assert_array_equal(model.output(), 2 * X)
    seconds = model.forward(3)
    assert len(seconds) == 3 and min(seconds) >= 0.01
    assert len(model.train_step(2)) == 2 and model.loss == 2.0
    assert model.how == {"forward": "slowly", "train_step": "by hand"}


def test_models_live_side_by_side_until_closed(process):
    first, second = _model(process, w=2.0), _model(process, w=3.0)
    np.testing.assert_array_equal(first.output(), 2 * X)
    first.close()
    np.testing.assert_array_equal(second.output(), 3 * X)
    with pytest.raises(other_process.PeerFailed, match="KeyError"):
        first.output()


def test_missing_package_is_named_with_its_extra(process):
    with pytest.raises(
        other_process.PeerNotInstalled,
        match=r"not installed: a_package_that_nobody_wrote .*\[bench\]",
    ):
        _model(process, "missing")


def test_error_is_told_and_the_child_lives_on(process):
    with pytest.raises(other_process.PeerFailed, match="ValueError: weights"):
        _model(process, "wrong")
    assert _model(process).forward()


def test_dead_child_is_reported_with_its_last_words(process):
    with pytest.raises(
        other_process.PeerFailed, match=r"code 3: [\s\S]*out of luck"
    ):
        _model(process, "dying")
    assert not process.is_alive
    with pytest.raises(other_process.PeerFailed, match="ended with code 3"):
        _model(process)


def test_child_that_does_not_start_is_reported():
    command = (sys.executable, "-c", "raise SystemExit('no such peer')")
    with OtherProcess(command, timeout=120) as process:
        with pytest.raises(other_process.PeerFailed, match="no such peer"):
            _model(process)


def test_child_that_speaks_otherwise_is_reported():
    code = (
        "import os; from benchmarks.serving import ANSWERS\n"
        "os.write(int(os.environ[ANSWERS]), b'hello\\n'); input()"
    )
    command = (sys.executable, "-c", code)
    with OtherProcess(command, timeout=120) as process:
        with pytest.raises(other_process.PeerFailed, match="hello"):
            process.ask(do="forget", model=1)


def test_late_child_is_killed():
    with OtherProcess(COMMAND, timeout=120) as process:
        assert _model(process).forward()
        process._timeout = 0.2
        with pytest.raises(other_process.PeerFailed, match="within 0.2 s"):
            _model(process, "sleeping")
        assert process._child.wait(120) < 0


def test_closed_process_is_reported(process):
    process.close()
    with pytest.raises(other_process.PeerFailed, match="closed"):
        process.ask(do="forget", model=1)


def test_busy_child_ends_with_its_parent(process, tmp_path):
    """Whose end closes the pipe, however it ended."""
    np.savez(tmp_path / "arrays.npz")
    request = {"do": "build", "case": "sleeping", "settings": {}}
    request["path"] = str(tmp_path / "arrays.npz")
    process._child.stdin.write(json.dumps(request) + "\n")
    process._child.stdin.close()
    assert process._child.wait(120) == 0
