"""Compares the package's layers with Keras's, and writes table and JSON."""

import argparse
import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NAMES = ("multi_head", "bahdanau", "new_lengths")
STEPS = (128, 512, 2048)


def main(arguments: list[str] | None = None) -> None:
    """Runs the named benchmarks."""
    options = _options(arguments)
    # A command's output is its table, not TensorFlow's notes.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    from benchmarks import machine, tables

    tf.get_logger().setLevel("ERROR")
    result: dict[str, Any] = {
        "machine": machine.facts(),
        "quick": options.quick,
    }
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
    for part in _parts(options, result):
        part()
        if options.output:  # After each, so that an interruption loses one.
            options.output.write_text(json.dumps(result, indent=2) + "\n")
    tables.show(result)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(NAMES)}; by default all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to see that it runs"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="begin no new pair after so many, for each comparison (20)",
    )
    parser.add_argument(
        "--output", type=Path, help="the JSON file to write", metavar="FILE"
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in NAMES:
            parser.error(f"no benchmark is called {name!r}: {', '.join(NAMES)}")
    options.names = options.names or list(NAMES)
    return options


def _parts(
    options: argparse.Namespace, result: dict[str, Any]
) -> Iterator[Callable[[], None]]:
    """What adds to `result`, piece by piece: times first, then memory."""
    rows = result.setdefault("comparisons", [])
    for case in _cases(options):
        yield lambda case=case: rows.append(_timed(*case, options))
    for row in rows:
        yield lambda row=row: row.update(peak_mebibytes=_peaks(row))
    if "new_lengths" in options.names:
        from benchmarks import new_lengths

        lengths = range(20, 22 if options.quick else 28)
        yield lambda: result.update(new_lengths=new_lengths.measured(lengths))


def _cases(options: argparse.Namespace) -> list[tuple[str, str, Any]]:
    """Case, mode and size of each row."""
    from benchmarks import cases

    return [
        (name, mode, size)
        for name in options.names
        for size in _sizes(options.quick)
        for mode in cases.MODES
        if name in cases.CASES
    ]


def _timed(
    name: str, mode: str, size: Any, options: argparse.Namespace
) -> dict[str, Any]:
    from benchmarks import cases, timing

    ours, theirs = cases.runners(name, mode, size)
    first = {"ours": timing.elapsed(ours), "theirs": timing.elapsed(theirs)}
    cases.check_equal(ours, theirs)
    pairs = 3 if options.quick else 30
    compared = timing.compare(ours, theirs, pairs, options.seconds)
    return {
        "case": name,
        "mode": mode,
        "size": dataclasses.asdict(size),
        "first_seconds": first,
        "seconds": dataclasses.asdict(compared),
    }


def _peaks(row: dict[str, Any]) -> dict[str, float]:
    from benchmarks import memory
    from benchmarks.cases import Size

    size = Size(**row["size"])
    return {
        which: memory.peak_mebibytes(row["case"], row["mode"], which, size)
        for which in ("ours", "theirs")
    }


def _sizes(quick: bool) -> list[Any]:
    from benchmarks.cases import Size

    if quick:
        return [Size(batch=1, steps=4, dim=8, heads=2)]
    return [Size(steps=steps) for steps in STEPS]


if __name__ == "__main__":
    main()
