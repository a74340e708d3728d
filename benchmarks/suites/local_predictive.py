"""LocalPredictiveAttention over length, beside global attention.

Windows of radius 10 and the score "general"; the other side is
`LuongAttention("general")`, which looks at every key and does another thing,
so that results are not compared. `unchecked` is ours without looking for NaN,
which global attention need not do where no mask is given. The summary has the
exponents: the slope of time over length, both as logarithms.
"""

import dataclasses
from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

MEMORY = ("ours", "global")
RADIUS = 10
WAYS = ("eager", "jit", "gradient")


def cases(quick: bool) -> list[Case]:
    """Lengths that double, in three ways; in one, if quick."""
    lengths = (16, 32) if quick else (1024, 2048, 4096, 8192, 16384)
    dim = 8 if quick else 64
    return [
        Case(steps=steps, dim=dim, way=way)
        for way in (WAYS[:1] if quick else WAYS)
        for steps in lengths
    ]


def sides(case: Case) -> dict[str, Side]:
    """Local and global."""
    query, value = layers.query_and_value(case)
    local = ka.LocalPredictiveAttention(RADIUS)
    everywhere = ka.LuongAttention("general")
    ours = keras.Model([query, value], local(query, value))
    all_keys = keras.Model([query, value], everywhere(query, value))
    models = {"ours": ours, "global": all_keys}
    sides = {
        name: ways.side(model, case.way, case.batch)
        for name, model in models.items()
    }
    if case.way != "eager":  # There, programs are looked for at each call.
        again = ways.side(ours, case.way, case.batch)
        sides["unchecked"] = ways.unchecked(again)
    return {
        name: dataclasses.replace(side, results=None)
        for name, side in sides.items()
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By way and side, the power of the length that time grows with."""
    points: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for row in rows:
        way, steps = row["case"]["way"], row["case"]["steps"]
        for side, measures in row["sides"].items():
            if "seconds" in measures:
                point = steps, measures["seconds"]["median"]
                lines = points.setdefault(way, {})
                lines.setdefault(side, []).append(point)
    return {
        "exponents": {
            way: {side: _slope(line) for side, line in lines.items()}
            for way, lines in points.items()
        }
    }


def _slope(line: list[tuple[int, float]]) -> float | None:
    if len(line) < 2:
        return None
    steps, seconds = np.log(line).T
    return float(np.polyfit(steps, seconds, 1)[0])
