"""A row: first calls, the check, warm times by turns, and peak memory."""

import dataclasses
import functools
import gc
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks import memory, timing
from benchmarks.cases import Case
from benchmarks.settings import Settings
from benchmarks.sides import TOLERANCE, Side, differences

Row = dict[str, Any]


def row(suite: ModuleType, case: Case, settings: Settings) -> Row:
    """Measures a case of a benchmark.

    A side that finds no room in a child process of its own is not timed.
    """
    if hasattr(suite, "row"):
        return suite.row(case, settings)
    found: dict[str, Any] = {}
    if settings.memory:
        found = _peaks(suite, case, settings)
    forget_programs()
    sides = {
        name: side
        for name, side in suite.sides(case).items()
        if "error" not in found.get(name, {})
    }
    compared = compare(sides, case.dtype, settings, getattr(suite, "REST", 0.0))
    for name, measures in compared["sides"].items():
        found.setdefault(name, {}).update(measures)
    return {"case": case.key(), **compared, "sides": found}


def compare(
    sides: dict[str, Side], dtype: str, settings: Settings, rest: float = 0.0
) -> Row:
    """Times some sides that do the same.

    Args:
        sides: Not called yet.
        dtype: Decides how equal results must be.
        settings: How long to time.
        rest: Seconds of pause before each turn.

    Returns:
        `sides`: seconds of the first call, of compiling (the first call less
        a warm one) and of warm calls; `ratios`: our warm time over each
        other's, round by round; `rounds`; `differences`: how far results
        lie from ours, in which sides that do something else are not timed.
    """
    first, results = _first_calls(sides)
    apart = differences(results)
    unequal = {
        name: {"error": f"its results are not as ours: {apart[name]:.2g} off"}
        for name in apart
        if not apart[name] <= TOLERANCE[dtype]  # Nor is NaN.
    }
    turns = {
        name: _turn(side, first[name], settings, rest)
        for name, side in sides.items()
        if name not in unequal
    }
    rounds = 3 if settings.quick else settings.rounds
    times = timing.interleaved(turns, rounds, settings.seconds)
    measures = {name: _measures(first[name], times[name]) for name in times}
    return {
        "sides": measures | unequal,
        "ratios": {
            name: dataclasses.asdict(spread)
            for name, spread in timing.ratios(times).items()
        },
        "rounds": max(map(len, times.values()), default=0),
        "differences": apart,
    }


def forget_programs() -> None:
    """Equal layers share programs; a first call has to compile its own."""
    import keras

    from keras_attention import compilation

    keras.utils.clear_session(free_memory=False)
    compilation._shared.clear()
    gc.collect()


def _first_calls(
    sides: dict[str, Side],
) -> tuple[dict[str, float], dict[str, list[Any]]]:
    """How long they take, and what has to be equal."""
    seconds, results = {}, {}
    for name, side in sides.items():
        start = time.perf_counter()
        returned = side.run()
        seconds[name] = time.perf_counter() - start
        if side.results:
            results[name] = side.results(returned)
    return seconds, results


def _turn(
    side: Side, first: float, settings: Settings, rest: float
) -> Callable[[], float]:
    """Warms a side up, unless that takes too long, and fits its calls in."""
    warm = first
    if first < settings.seconds / 5:
        warm = min(side.timed(1)() for _ in range(2))
    timed = side.timed(calls=timing.calls_in_a_turn(warm))
    if not rest:
        return timed
    return functools.partial(_after_rest, timed, rest)


def _after_rest(timed: Callable[[], float], rest: float) -> float:
    time.sleep(rest)
    return timed()


def _measures(first: float, times: list[float]) -> dict[str, Any]:
    warm = timing.Spread.of(times)
    return {
        "first_seconds": first,
        "compile_seconds": max(0.0, first - warm.median),
        "seconds": dataclasses.asdict(warm),
    }


def _peaks(suite: ModuleType, case: Case, settings: Settings) -> dict[str, Any]:
    name = suite.__name__.rpartition(".")[2]
    return {
        side: memory.of_side(name, case, side, settings.gibibytes)
        for side in getattr(suite, "MEMORY", ())
    }
