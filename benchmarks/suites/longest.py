"""The longest sequence that one train step takes, within a memory limit.

A step of `train_on_batch` with `compile`'s defaults, of one example, in a
child process that may take `--gibibytes`: its peak, and the seconds of a second
step. A child that dies counts as a length that does not train. A Dense stands
before each layer, so that every model has something to learn.
"""

from typing import Any

import keras

from benchmarks import comparison, memory, ways
from benchmarks.cases import Case
from benchmarks.settings import Settings
from benchmarks.sides import Side
from benchmarks.suites import layers


def cases(quick: bool) -> list[Case]:
    """Every score, at lengths that double; one of them, if quick."""
    lengths, dim = (1024, 2048, 4096, 8192, 16384), 64
    names = [*layers.OURS]
    if quick:
        lengths, dim, names = (16,), 8, ["dot"]
    return [
        Case(steps=steps, dim=dim, way="fit", layer=name)
        for name in names
        for steps in lengths
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, and Keras's if it has one."""
    builders = {"ours": layers.OURS, "keras": layers.KERAS}
    return {
        name: _side(layer[case.layer](case), case)
        for name, layer in builders.items()
        if case.layer in layer
    }


def row(case: Case, settings: Settings) -> comparison.Row:
    """Peak and seconds of each side, or how it ended."""
    found = {
        name: memory.of_side(
            "longest", case, name, settings.gibibytes, again=True
        )
        for name in sides(case)
    }
    for measures in found.values():
        measures["trains"] = "error" not in measures
    return {"case": case.key(), "sides": found, "ratios": {}}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By layer and side, the longest that trains."""
    longest: dict[str, dict[str, int]] = {}
    for row in rows:
        of_layer = longest.setdefault(row["case"]["layer"], {})
        for side, measures in row["sides"].items():
            if measures["trains"]:
                steps = max(row["case"]["steps"], of_layer.get(side, 0))
                of_layer[side] = steps
    return {"longest": longest}


def _side(attend: Any, case: Case) -> Side:
    query, value = layers.query_and_value(case)
    ask, answer = (keras.layers.Dense(case.dim) for _ in range(2))
    model = keras.Model([query, value], attend(ask(query), answer(value)))
    return ways.side(model, case.way, case.batch)
