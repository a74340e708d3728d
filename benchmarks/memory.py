"""How much memory a call takes at its peak, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import Size


def peak_mebibytes(name: str, mode: str, which: str, size: Size) -> float:
    """The peak of the process over what it held before its first call.

    Args:
        name: Of a case.
        mode: How it is run.
        which: "ours" or "theirs".
        size: Of the inputs.
    """
    arguments = [name, mode, which, *map(str, _values(size))]
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    return float(json.loads(finished.stdout.splitlines()[-1]))


def _values(size: Size) -> tuple[int, ...]:
    return size.batch, size.steps, size.dim, size.heads


def _measured(name: str, mode: str, which: str, *size: str) -> float:
    """Runs one case twice and reads the peak, in MiB."""
    from benchmarks import cases

    ours, theirs = cases.runners(name, mode, Size(*map(int, size)))
    run = ours if which == "ours" else theirs
    Path("/proc/self/clear_refs").write_text("5")  # Sets the peak to now.
    before = _kibibytes("VmRSS")
    run()
    run()
    return (_kibibytes("VmHWM") - before) / 1024


def _kibibytes(entry: str) -> int:
    """A line of this process's status, of Linux."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(entry + ":"):
            return int(line.split()[1])
    raise LookupError(f"/proc/self/status has no {entry}")


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:])))
