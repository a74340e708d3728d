"""Results as tables in the terminal."""

from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table


def show(result: dict[str, Any]) -> None:
    """Prints the facts of the machine and a table for each kind of result."""
    console = Console()
    machine = result["machine"]
    console.print(
        f"{machine['processor']}, {machine['cores']} cores, load "
        f"{machine['load'][0]}, Python {machine['python']}, TensorFlow "
        f"{machine['tensorflow']}, Keras {machine['keras']}, {machine['date']}"
    )
    if result["comparisons"]:
        console.print(_comparisons(result["comparisons"]))
    if "new_lengths" in result:
        console.print(_new_lengths(result["new_lengths"]))


def _comparisons(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="Ours / Keras's. A ratio below 1: ours is faster.",
        box=box.SIMPLE,
        padding=0,
    )
    table.add_column("case", no_wrap=True)
    table.add_column("mode", no_wrap=True)
    for heading in ("T", "ratio", "quartiles", "ms", "first call s", "MiB"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*_comparison(row))
    return table


def _comparison(row: dict[str, Any]) -> list[str]:
    seconds, first = row["seconds"], row["first_seconds"]
    peak, ratio = row["peak_mebibytes"], row["seconds"]["ratio"]
    return [
        row["case"],
        row["mode"],
        str(row["size"]["steps"]),
        f"{ratio['median']:.2f}",
        f"{ratio['lower_quartile']:.2f}-{ratio['upper_quartile']:.2f}",
        f"{1e3 * seconds['ours']['median']:.2f} / "
        f"{1e3 * seconds['theirs']['median']:.2f}",
        f"{first['ours']:.2f} / {first['theirs']:.2f}",
        f"{peak['ours']:.0f} / {peak['theirs']:.0f}",
    ]


def _new_lengths(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Median seconds of a call at a new length, and again")
    table.add_column("way")
    for heading in ("new", "new, processor", "seen", "seen, processor"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["way"],
            *(
                f"{np.median([times[kind] for times in row[when]]):.3f}"
                for when in ("new", "seen")
                for kind in ("wall", "processor")
            ),
        )
    return table
