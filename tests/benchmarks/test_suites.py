"""Every benchmark gives the rows that tables, plots and quotes are made of."""

import json
import sys

import pytest

from benchmarks import children, comparison, memory, peers, suites, tables
from benchmarks.cases import Case
from benchmarks.settings import Settings
from benchmarks.suites import local_predictive, longest, new_lengths, start_up

QUICK = Settings(quick=True, memory=False)
STANDARD = [
    name for name in suites.NAMES if name not in ("start_up", "longest")
]


def load(name):
    if name in ("fused_kernel", "forms"):
        pytest.importorskip("torch")
    return suites.load(name)


def first_row(name):
    suite = load(name)
    return comparison.row(suite, suite.cases(quick=True)[0], QUICK)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", suites.NAMES)
def test_cases_are_told_apart_and_fit_for_json(name, quick):
    suite = load(name)
    assert suite.__doc__.splitlines()[0].endswith(".")
    keys = [case.key() for case in suite.cases(quick)]
    assert len({json.dumps(key) for key in keys}) == len(keys)
    assert [Case.of(json.loads(json.dumps(key))) for key in keys] == (
        suite.cases(quick)
    )


@pytest.mark.parametrize("name", STANDARD)
def test_row(name, capsys):
    try:
        row = first_row(name)
    except peers.PeerNotInstalled as missing:
        pytest.skip(str(missing))
    sides = json.loads(json.dumps(row))["sides"]
    assert list(sides)[0] == "ours" and len(sides) > 1
    for measures in sides.values():
        assert "error" not in measures and measures
    assert set(row["ratios"]) == set(sides) - {"ours"}
    facts = dict.fromkeys(
        ("processor", "cores", "threads", "python", "tensorflow", "keras"), "?"
    )
    facts |= {"instructions": [], "load": [0.0], "torch": None}
    facts |= {"commit": None, "date": "today"}
    tables.show(
        {"benchmark": name, "title": "", "machine": facts, "rows": [row]}
    )
    assert "ours/" in capsys.readouterr().out


def test_start_up_reads_the_seconds_of_its_children(monkeypatch):
    monkeypatch.setattr(
        children,
        "answer",
        lambda _c, code, _start: [3.0, 1.0] if "between" in code else 2.0,
    )
    row = comparison.row(start_up, start_up.cases(quick=True)[0], QUICK)
    assert row["sides"]["ours"]["seconds"]["median"] == 3.0
    assert row["sides"]["ours"]["added_seconds"]["median"] == 1.0
    assert row["sides"]["keras"]["seconds"]["median"] == 2.0
    assert row["ratios"]["keras"]["median"] == 1.5


@pytest.mark.parametrize("layer", start_up.CALLS)
@pytest.mark.parametrize("side", [0, 1])
def test_start_up_calls_what_it_names(layer, side, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-c", "0"])
    code = start_up.FIRST_RESULT.format(
        imports="import keras_attention", call=start_up.CALLS[layer][side]
    )
    exec(code, {})
    assert float(capsys.readouterr().out) > 0


def test_longest_counts_a_child_that_dies_as_one_that_does_not_train(
    monkeypatch,
):
    def of_side(name, case, side, gibibytes, again):
        assert name == "longest" and again and gibibytes == 20.0
        if side == "keras" and case.steps > 2048:
            return {"error": "code -6"}
        return {"peak_mebibytes": 1.0, "warm_seconds": 2.0}

    monkeypatch.setattr(memory, "of_side", of_side)
    rows = [
        comparison.row(longest, case, QUICK)
        for case in longest.cases(quick=False)
        if case.layer in ("additive", "cosine") and case.steps <= 4096
    ]
    assert longest.summary(rows) == {
        "longest": {
            "additive": {"ours": 4096, "keras": 2048},
            "cosine": {"ours": 4096},
        }
    }


@pytest.mark.parametrize("layer", suites.load("longest").layers.OURS)
def test_longest_trains_every_score(layer):
    case = Case(steps=4, dim=8, way="fit", layer=layer)
    for side in longest.sides(case).values():
        assert side.run() > 0


def test_exponents_are_the_slopes_of_time_over_length():
    rows = [
        {
            "case": {"way": "jit", "steps": steps},
            "sides": {
                "ours": {"seconds": {"median": 3e-5 * steps}},
                "global": {"seconds": {"median": 2e-7 * steps**2}}
                if steps < 2048
                else {"error": "code 1"},
            },
        }
        for steps in (512, 1024, 2048)
    ]
    slopes = local_predictive.summary(rows)["exponents"]["jit"]
    assert slopes["ours"] == pytest.approx(1.0)
    assert slopes["global"] == pytest.approx(2.0)


@pytest.mark.parametrize("way", new_lengths.WAYS)
def test_new_lengths_are_met_twice(way, monkeypatch):
    attend = "ours" if way == "generate" else "keras"
    sides = {name: new_lengths.SIDES[attend] for name in ("ours", "keras")}
    monkeypatch.setattr(new_lengths, "SIDES", sides)
    case = Case(2, 20, 4, way=way, lengths="powers_of_two")
    row = comparison.row(new_lengths, case, QUICK)
    for measures in row["sides"].values():
        assert measures["new_total_seconds"] > 0
        assert measures["seen_processor_seconds"]["median"] >= 0


def test_a_peer_that_is_not_installed_is_said_so(monkeypatch):
    def missing(*_):
        raise peers.PeerNotInstalled("some-package")

    monkeypatch.setattr(peers, "sides", missing)
    row = first_row("mechanisms")
    assert "some-package" in row["sides"]["peer"]["error"]
    assert row["peer"] and row["ratios"] == {}
