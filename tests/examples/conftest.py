import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))


# A shell starts background jobs, CI's among them, deaf to SIGINT.
HEED_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-u", *sys.argv[1:]])
"""


@pytest.fixture
def start_example():
    """Starts an example in a process of its own; ends what is left of it."""
    started = []
    paths = [os.environ.get("PYTHONPATH"), str(ROOT)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    # Importing Keras sets it in this process; the examples choose their own.
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)

    def start(script, *arguments):
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", HEED_CTRL_C),
                *(EXAMPLES / script, *map(str, arguments)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run_example(start_example):
    """Runs an example to its end: returns status, output and errors."""

    def run(script, *arguments):
        process = start_example(script, *arguments)
        output, errors = process.communicate(timeout=900)
        return process.returncode, output, errors

    return run
