import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import children, memory
from benchmarks.cases import Case

ROOT = Path(__file__).parents[2]


def run(tmp_path, *arguments):
    command.main(
        ["small_call", "--quick", "--output", str(tmp_path), *arguments]
    )
    return json.loads((tmp_path / "small_call.json").read_text())


def test_quick_run(tmp_path, capsys):
    result = run(tmp_path, "--only", "layer=dot")
    assert result["machine"]["cores"] >= 1 and result["quick"]
    assert result["machine"]["tensorflow"] and result["machine"]["date"]
    assert result["overhead_seconds"]["eager"]["median"] > 0
    (row,) = result["rows"]
    assert row["case"]["layer"] == "dot" and row["case"]["steps"] == 16
    assert row["ratios"]["keras"]["smallest"] > 0
    assert row["sides"]["ours"]["first_seconds"] > 0
    assert "small_call" in capsys.readouterr().out


def test_a_benchmark_whose_package_is_missing_is_left_out(
    tmp_path, capsys, monkeypatch
):
    def load(name):
        raise ModuleNotFoundError("No module named 'some_package'")

    monkeypatch.setattr(command.suites, "load", load)
    command.main(["small_call", "--quick", "--output", str(tmp_path)])
    assert "some_package" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_resume_keeps_the_rows_that_are_there(tmp_path):
    earlier = run(tmp_path, "--only", "layer=dot")
    later = run(tmp_path, "--resume", "--only", "layer=dot")
    assert later == earlier


def test_peak_is_of_what_the_call_takes_and_gives_back():
    code = (
        "from benchmarks import memory\n"
        "before = bytearray(50 * 2**20)\n"
        "print(memory.peak_mebibytes(lambda: bytearray(100 * 2**20)))"
    )
    assert 95 < children.answer("-c", code) < 110


def test_memory_of_a_child():
    case = Case(way="eager", steps=512, batch=2)
    found = memory.of_side("multi_head", case, "keras", 20.0, again=True)
    assert found["peak_mebibytes"] > 2 * 4 * 512**2 * 4 / 2**20  # Scores.
    assert found["warm_seconds"] > 0


def test_a_child_that_takes_too_much_is_an_error_and_no_more():
    case = Case(way="eager", steps=8, dim=8, heads=2)
    assert "code" in memory.of_side("multi_head", case, "keras", 0.1)["error"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bahdanu"], "bahdanu"),
        (["bahdanau", "--only", "steps"], "KEY=VALUE"),
        (["bahdanau", "--resume"], "--output"),
    ],
)
def test_wrong_options_are_refused(arguments, said, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert said in capsys.readouterr().err


def test_help_is_quick_and_loads_no_tensorflow():
    code = (
        "import sys; from benchmarks.__main__ import main\n"
        "try: main(['--help'])\n"
        "finally: assert not {'tensorflow', 'keras', 'numpy'} & {*sys.modules}"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
    assert "multi_head" in finished.stdout
