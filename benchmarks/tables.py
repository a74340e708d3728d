"""Results as tables in the terminal."""

from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.cases import Case
from benchmarks.figures import shown

Row = dict[str, Any]

#: A table that is piped into a file has no terminal's width.
WIDTH = 120

#: Measure of a side: heading, and the unit in which it is shown.
MEASURES = {
    "seconds": ("warm ms", "ms"),
    "first_seconds": ("first call s", ""),
    "compile_seconds": ("compile s", ""),
    "peak_mebibytes": ("peak MiB", ""),
    "warm_seconds": ("second call s", ""),
    "added_seconds": ("added s", ""),
}

#: What no column is made of.
NOT_SHOWN = ("error", "trains")

#: What is told of a case, if it is not the same in all rows.
KEYS = {
    "layer": "layer",
    "way": "way",
    "lengths": "lengths",
    "dtype": "dtype",
    "steps": "T",
}


def show(result: dict[str, Any]) -> None:
    """Prints the facts of the machine and the table of a benchmark."""
    console = Console()
    console.width = max(console.width, WIDTH)
    machine = result["machine"]
    console.print(
        f"[bold]{result['benchmark']}[/]: {result['title']}\n"
        f"{machine['processor']} ({', '.join(machine['instructions'])}), "
        f"{machine['cores']} cores, threads {machine['threads']}, load "
        f"{machine['load'][0]}, Python {machine['python']}, TensorFlow "
        f"{machine['tensorflow']}, Keras {machine['keras']}, PyTorch "
        f"{machine['torch']}, commit {machine['commit']}, {machine['date']}",
        highlight=False,
    )
    if result["rows"]:
        console.print(_table(result["rows"]))
        for text in errors(result):
            console.print(text, style="red", highlight=False)
    if "summary" in result:
        console.print(result["summary"])


def errors(result: dict[str, Any]) -> list[str]:
    """The sides that have no figures, and why."""
    return [
        f"{Case.of(row['case'])}, {side}: {measures['error']}"
        for row in result["rows"]
        for side, measures in row["sides"].items()
        if "error" in measures
    ]


def _table(rows: list[Row]) -> Table:
    keys = _varying(rows)
    sides = _ordered(name for row in rows for name in row["sides"])
    measures = _ordered(
        measure
        for row in rows
        for measures in row["sides"].values()
        for measure in measures
        if measure not in NOT_SHOWN
    )
    peers = _ordered(name for row in rows for name in row["ratios"])
    table = Table(
        title=f"{' / '.join(sides)}. A ratio below 1: ours is faster.",
        title_justify="left",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for key in keys:
        table.add_column(KEYS[key], no_wrap=True)
    for heading in [
        *(f"ours/{peer}" for peer in peers),
        *(_heading(measure) for measure in measures),
    ]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            *(str(row["case"].get(key, "")) for key in keys),
            *(_ratio(row["ratios"].get(peer)) for peer in peers),
            *(_measure(row, sides, measure) for measure in measures),
        )
    return table


def _varying(rows: list[Row]) -> list[str]:
    """What tells the rows apart; the length in any case."""
    return [
        key
        for key in KEYS
        if key == "steps" or len({row["case"].get(key) for row in rows}) > 1
    ]


def _ordered(names: Iterable[str]) -> list[str]:
    """Each once, in the order of appearance."""
    return list(dict.fromkeys(names))


def _heading(measure: str) -> str:
    return MEASURES.get(measure, (measure.replace("_", " "), ""))[0]


def _ratio(spread: dict[str, float] | None) -> str:
    if spread is None:
        return ""
    low, high = spread["lower_quartile"], spread["upper_quartile"]
    return f"{spread['median']:.2f} ({low:.2f}-{high:.2f})"


def _measure(row: Row, sides: list[str], measure: str) -> str:
    """A measure of each side, such as `1.2 / 3.4`."""
    _, unit = MEASURES.get(measure, ("", ""))
    texts = []
    for side in sides:
        value = row["sides"].get(side, {}).get(measure)
        if isinstance(value, dict):
            value = value["median"]
        texts.append("-" if value is None else shown(value, unit))
    return " / ".join(texts)
