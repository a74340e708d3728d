"""How much memory a first call takes at its peak, in a process of its own."""

import json
import resource
import sys
from pathlib import Path
from typing import Any

from benchmarks import children
from benchmarks.cases import Case


def of_side(
    benchmark: str, case: Case, side: str, gibibytes: float
) -> dict[str, Any]:
    """The peak of a process over what it held before the first call.

    Args:
        benchmark: Its name.
        case: The row.
        side: Whose call.
        gibibytes: How much the process may take.

    Returns:
        `peak_mebibytes`, or an `error` if the process did not get through.
    """
    key = json.dumps(case.key())
    arguments = ("-m", "benchmarks.memory", benchmark, key, side)
    try:
        return dict(children.answer(*arguments, str(gibibytes)))
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
    benchmark: str, case: str, side: str, gibibytes: str
) -> dict[str, float]:
    from benchmarks import suites

    limit(float(gibibytes))
    sides = suites.load(benchmark).sides(Case.of(json.loads(case)))
    return {"peak_mebibytes": peak_mebibytes(sides[side].run)}


def _kibibytes(entry: str) -> int:
    """A line of this process's status, of Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(entry + ":"):
            return int(line.split()[1])
    raise LookupError(f"/proc/self/status has no {entry}")


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:])))
