import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import cases, memory, new_lengths, timing

ROOT = Path(__file__).parents[2]
TINY = cases.Size(batch=1, steps=4, dim=8, heads=2)


class Clock:
    """A clock that stands still unless a function works."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def __call__(self):
        return self.now

    def work(self, name, seconds):
        durations = itertools.cycle(seconds)

        def function():
            self.calls.append(name)
            self.now += next(durations)

        return function


def test_spread():
    spread = timing.Spread.of([5.0, 1.0, 3.0, 2.0, 4.0])
    assert spread == timing.Spread(3.0, 2.0, 4.0, 1.0, 5.0)


def test_elapsed():
    clock = Clock()
    assert timing.elapsed(clock.work("ours", [2.5]), clock) == 2.5


def test_the_ratio_is_taken_pair_by_pair():
    """Slowness of the machine that both meet does not show in the ratio."""
    clock = Clock()
    compared = timing.compare(
        clock.work("ours", [1.0, 10.0, 100.0]),
        clock.work("theirs", [2.0, 20.0, 200.0]),
        pairs=6,
        clock=clock,
    )
    assert compared.ratio == timing.Spread(0.5, 0.5, 0.5, 0.5, 0.5)
    assert compared.ours.median == 10.0
    assert (compared.theirs.smallest, compared.theirs.largest) == (2.0, 200.0)


def test_functions_run_by_turns_and_each_goes_first():
    clock = Clock()
    ours, theirs = clock.work("ours", [1.0]), clock.work("theirs", [1.0])
    timing.compare(ours, theirs, pairs=4, clock=clock)
    assert clock.calls == ["ours", "theirs", "theirs", "ours"] * 2


@pytest.mark.parametrize(("seconds", "pairs"), [(0.0, 3), (9.0, 5), (1e9, 30)])
def test_time_limit(seconds, pairs):
    clock = Clock()
    ours, theirs = clock.work("ours", [1.0]), clock.work("theirs", [1.0])
    timing.compare(ours, theirs, pairs=30, seconds=seconds, clock=clock)
    assert clock.calls.count("ours") == pairs


def test_check_equal_refuses_different_results():
    one = np.ones(3)
    cases.check_equal(lambda: one, lambda: one + 1e-6)
    with pytest.raises(AssertionError):
        cases.check_equal(lambda: one, lambda: one + 1e-2)


@pytest.mark.parametrize("name", cases.CASES)
@pytest.mark.parametrize("mode", cases.MODES)
def test_peers_do_the_same(name, mode):
    ours, theirs = cases.runners(name, mode, TINY)
    assert isinstance(ours(), np.ndarray) and isinstance(theirs(), np.ndarray)
    cases.check_equal(ours, theirs)


@pytest.mark.parametrize("way", new_lengths.WAYS)
def test_new_lengths_has_a_row_for(way, monkeypatch):
    monkeypatch.setattr(new_lengths, "WAYS", {way: new_lengths.WAYS[way]})
    (row,) = new_lengths.measured([3])
    assert row["way"] == way
    assert len(row["new"]) == len(row["seen"]) == 1
    for seconds in row["new"] + row["seen"]:
        assert seconds["wall"] > 0 and seconds["processor"] > 0


def test_memory_of_a_child_counts_what_it_allocates():
    small = memory.peak_mebibytes("multi_head", "eager", "theirs", TINY)
    large = memory.peak_mebibytes(
        "multi_head", "eager", "theirs", cases.Size(batch=8, steps=1024)
    )
    assert large > small + 8 * 4 * 1024**2 * 4 / 2**20  # One set of scores.


def test_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["bahdanu"])
    assert "bahdanu" in capsys.readouterr().err


def test_quick_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        memory, "peak_mebibytes", lambda *_: 1.0
    )  # Tested above.
    output = tmp_path / "results" / "result.json"
    command.main(["bahdanau", "--quick", "--output", str(output)])
    result = json.loads(output.read_text())
    assert result["machine"]["cores"] >= 1 and result["quick"]
    rows = result["comparisons"]
    assert [row["mode"] for row in rows] == list(cases.MODES)
    for row in rows:
        assert row["seconds"]["ratio"]["smallest"] > 0
        assert row["first_seconds"]["ours"] > 0
        assert row["peak_mebibytes"]["ours"] > 0
    assert "bahdanau" in capsys.readouterr().out


def test_help_is_quick_and_loads_no_tensorflow():
    code = (
        "import sys; from benchmarks.__main__ import main\n"
        "try: main(['--help'])\n"
        "finally: assert 'tensorflow' not in sys.modules"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
    assert "multi_head" in finished.stdout
