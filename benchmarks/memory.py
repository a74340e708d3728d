"""How much memory a first call takes at its peak, in a process of its own."""

import json
import resource
import sys
from pathlib import Path
from typing import Any

from benchmarks import children, timing
from benchmarks.cases import Case


def of_side(
    benchmark: str,
    case: Case,
    side: str,
    gibibytes: float,
    again: bool = False,
) -> dict[str, Any]:
    """The peak of a process over what it held before the first call.

    Args:
        benchmark: Its name.
        case: The row.
        side: Whose call.
        gibibytes: How much the process may take.
        again: Whether to time a second call.

    Returns:
        `peak_mebibytes`, and `warm_seconds` of a second call; or an `error`
        if the process did not get through.
    """
    key = json.dumps(case.key())
    arguments = [benchmark, key, side, str(gibibytes), *["again"] * again]
    try:
        return dict(children.answer("-m", "benchmarks.memory", *arguments))
    except children.ChildDied as error:
        return {"error": str(error)}


def limit(gibibytes: float) -> None:
    """Lets this process fail, and no other, when it takes more."""
    size = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def peak_mebibytes(run: Any) -> float:
    """The peak of this process while `run` is called, over what it held."""
    Path("/proc/self/clear_refs").write_text("5")  # Sets the peak to now.
    before = _kibibytes("VmRSS")
    run()
    return (_kibibytes("VmHWM") - before) / 1024


def _measured(
    benchmark: str, case: str, side: str, gibibytes: str, again: str = ""
) -> dict[str, float]:
    from benchmarks import suites

    limit(float(gibibytes))
    sides = suites.load(benchmark).sides(Case.of(json.loads(case)))
    run = sides[side].run
    found = {"peak_mebibytes": peak_mebibytes(run)}
    return found | ({"warm_seconds": timing.elapsed(run)} if again else {})


def _kibibytes(entry: str) -> int:
    """A line of this process's status, of Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(entry + ":"):
            return int(line.split()[1])
    raise LookupError(f"/proc/self/status has no {entry}")


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:])))
