"""Compares the package's layers with Keras's and others: time and memory.

Prints a table for each benchmark and, with --output, writes DIR/NAME.json
after each row and DIR/NAME.png at the end.
"""

import argparse
import dataclasses
import os
from pathlib import Path
from typing import Any

from benchmarks import suites
from benchmarks.settings import Settings


def main(arguments: list[str] | None = None) -> None:
    """Runs the named benchmarks."""
    options = _options(arguments)
    # A command's output is its table, not TensorFlow's notes.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    from rich.console import Console
    from rich.progress import Progress

    from benchmarks import plots, tables, ways

    tf.get_logger().setLevel("ERROR")
    overheads = ways.overheads()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for name in options.names:
            try:
                result = _run(name, options, overheads, progress)
            except ModuleNotFoundError as error:
                progress.print(f"{name} is left out: {error}")
                continue
            if options.output:
                plots.draw(result, options.output / f"{name}.png")
            tables.show(result)


def _run(
    name: str, options: argparse.Namespace, overheads: Any, progress: Any
) -> dict[str, Any]:
    """One benchmark's results, row by row."""
    from benchmarks import comparison, machine
    from benchmarks.results import Results

    suite = suites.load(name)
    settings = _settings(options)
    if settings.quick and name != options.names[0]:
        # One row of one benchmark shows that memory is measured.
        settings = dataclasses.replace(settings, memory=False)
    facts = {
        "title": (suite.__doc__ or "").splitlines()[0],
        "machine": machine.facts(),
        "quick": settings.quick,
        "settings": dataclasses.asdict(settings),
        "overhead_seconds": overheads,
    }
    results = Results(name, facts, options.output, options.resume)
    chosen = [
        case
        for case in suite.cases(settings.quick)
        if case.matches(options.only) and case not in results
    ]
    task = progress.add_task(name, total=len(chosen))
    for case in chosen:
        progress.update(task, description=f"{name} {case}")
        results.add(comparison.row(suite, case, settings))
        progress.advance(task)
        if settings.quick:
            settings = dataclasses.replace(settings, memory=False)
    progress.remove_task(task)
    results.summarise(suite)
    return results.result


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        quick=options.quick,
        rounds=options.rounds,
        seconds=options.seconds,
        memory=options.memory,
        gibibytes=options.gibibytes,
    )


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in suites.NAMES:
            parser.error(
                f"no benchmark is called {name!r}: {', '.join(suites.NAMES)}"
            )
    options.names = options.names or list(suites.NAMES)
    options.only = dict(options.only)
    if options.resume and not options.output:
        parser.error("--resume needs the --output to go on with")
    return options


def _parser() -> argparse.ArgumentParser:
    usual = Settings()
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(suites.NAMES)}; by default all",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, to see that it runs"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        type=_key_and_value,
        metavar="KEY=VALUE",
        help="rows with these values, such as way=jit steps=512,2048",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=usual.seconds,
        help="begin no new round after so many, for each row (%(default)g)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=usual.rounds,
        help="time at most so many rounds for each row (%(default)d)",
    )
    parser.add_argument(
        "--no-memory",
        dest="memory",
        action="store_false",
        help="leave out peak memory, which takes a process for each side",
    )
    parser.add_argument(
        "--gibibytes",
        type=float,
        default=usual.gibibytes,
        help="stop a child process that takes more (%(default)g)",
    )
    parser.add_argument(
        "--output", type=Path, help="the folder to write to", metavar="DIR"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the rows that are in DIR/NAME.json",
    )
    return parser


def _key_and_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, not {text!r}")
    return key, value


if __name__ == "__main__":
    main()
