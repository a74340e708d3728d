import os
import subprocess
import sys
from pathlib import Path

import pytest
from common import fail, require, writable_folder

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_fail_prints_one_line_and_ends_with_status_2(capfd):
    with pytest.raises(SystemExit) as ended:
        fail("no such thing")
    assert ended.value.code == 2
    assert capfd.readouterr().err.endswith("error: no such thing\n")


def test_require_accepts_what_is_installed(capfd):
    require("keras", extra="tuner")
    assert capfd.readouterr() == ("", "")


def test_require_names_the_command_that_installs_what_is_missing(capfd):
    with pytest.raises(SystemExit) as ended:
        require("no_such_module", extra="tuner")
    assert ended.value.code == 2
    message = capfd.readouterr().err
    assert message.count("\n") == 1
    assert "`no_such_module`" in message
    assert 'run in the repository: pip install -e ".[tuner]"' in message


def test_writable_folder_makes_the_folder_and_leaves_it_empty(tmp_path):
    folder = writable_folder(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_ends_with_one_line(tmp_path, capfd):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        writable_folder(tmp_path / "file" / "folder")
    assert ended.value.code == 2
    message = capfd.readouterr().err
    assert message.count("\n") == 1
    assert "cannot write to the folder" in message


SILENT_IMPORT = """
from common import silence_tensorflow
silence_tensorflow()
import os
os.write(2, b"afterwards")
"""

FAILING_IMPORT = """
import os, sys
from common import silence_tensorflow
sys.modules["keras"] = None
silence_tensorflow()
"""

HELP = """
import sys
import {example}
try:
    {example}.main(["--help"])
finally:
    assert not {{"keras", "numpy", "babel"}} & set(sys.modules)
"""


def run_code(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES)},
        capture_output=True,
        text=True,
    )


def test_silence_hides_the_notes_of_the_start_alone():
    assert run_code(SILENT_IMPORT).stderr == "afterwards"


def test_silence_hides_no_error():
    ended = run_code(FAILING_IMPORT)
    assert ended.returncode == 1
    assert "ModuleNotFoundError" in ended.stderr


@pytest.mark.parametrize(
    "example",
    [
        "adding_problem",
        "pronounce",
        "translate",
        "translate_dates",
        "tune_classifier",
    ],
)
def test_help_loads_no_framework(example):
    ended = run_code(HELP.format(example=example))
    assert ended.stderr == ""
    assert ended.stdout.startswith("usage:")
    assert ended.returncode == 0
