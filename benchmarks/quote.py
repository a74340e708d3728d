"""Writes the figures of the results into README and docs, or checks them.

A page names where a figure comes from in a comment behind it, which readers do
not see:

    It takes 1.31<!-- multi_head steps=2048 way=jit: ratios.keras --> times as
    long, 333<!-- multi_head steps=2048 way=jit: sides.ours.seconds ms --> ms.

That is: the benchmark, as `benchmarks/results/NAME.json`, in a folder for
another machine, as `avx2/multi_head`; what tells the row
from the others, if the figure is in a row; and the path to it. Of a spread the
median is taken. A unit may follow: ms, us, %, GiB (from MiB), or inverse. The
figure is written with as many decimals as it has.

A table is written between two comments, with a column for each line:

    <!-- table: multi_head way=jit,eager dtype=float32
    T = case.steps
    ours, ms = sides.ours.seconds ms
    -->

    <!-- end of table -->

A figure in seconds, MiB, GiB, % or times that no benchmark measures says so:
`1<!-- not measured --> GiB`.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.cases import matches
from benchmarks.figures import scaled, shown

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"

NOT_MEASURED = "not measured"

#: Stands in a table where a row has no such measure.
NOTHING = "-"

SOURCE = r"(?P<name>[\w/]+)(?P<keys>( \w+=\S+)*)"
QUOTE = re.compile(rf"{SOURCE}: (?P<path>[\w.]+)( (?P<unit>\S+))?")
FIGURE = re.compile(r"(?P<figure>\d[\w.,]*)?<!-- (?P<quote>[^>]*?) -->")
TABLE = re.compile(
    rf"(?P<head><!-- table: {SOURCE}\n(?P<columns>[^>]*?)\n-->\n)"
    r"(?P<body>.*?)(?P<tail><!-- end of table -->)",
    re.DOTALL,
)
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
MEASURED = re.compile(
    r"(?<![\^\w.])\d[\d.,]*\s?"
    r"(?:ms|us|s|seconds?|minutes?|hours?|[KMG]i?B|times|x|×|%)(?!\w)"
)

Load = Callable[[str], dict[str, Any]]


class QuoteError(ValueError):
    """A comment that names no figure; the message says which."""


def main(arguments: list[str] | None = None) -> None:
    """Rewrites the pages, or only says what is wrong with them."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.quote",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if need be"
    )
    options = parser.parse_args(arguments)
    if not options.check:
        for page in pages():
            page.write_text(refreshed(page.read_text()))
    wrong = [line for page in pages() for line in complaints(page)]
    if wrong:
        sys.exit("\n".join(wrong))


def pages() -> list[Path]:
    """Every page that may quote figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def load(name: str) -> dict[str, Any]:
    """The results of a benchmark."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise QuoteError(f"there is no {path.name} among the results")
    return dict(json.loads(path.read_text()))


def refreshed(text: str, load: Load = load) -> str:
    """A page with the figures and tables that the results have.

    Args:
        text: The page, in Markdown.
        load: Reads the results of a benchmark.

    Raises:
        QuoteError: A comment names no figure.
    """
    text = TABLE.sub(lambda match: _table(match, load), text)
    return FIGURE.sub(lambda match: _figure(match, load), text)


def unmarked(text: str) -> list[str]:
    """Figures in a unit of time or memory that no comment stands behind."""
    text = TABLE.sub("", text)
    text = FIGURE.sub("", CODE.sub("", text))
    return [match.group().strip() for match in MEASURED.finditer(text)]


def complaints(page: Path) -> Iterator[str]:
    """What is wrong with the figures of a page, a line each."""
    text = page.read_text()
    if refreshed(text) != text:
        yield f"{page}: python -m benchmarks.quote would change it"
    for figure in unmarked(text):
        yield f"{page}: nothing says where {figure} is from"


def _figure(match: re.Match[str], load: Load) -> str:
    figure, text = match["figure"], match["quote"]
    quote = QUOTE.fullmatch(text)
    if quote is None:
        if text == NOT_MEASURED or figure is None:
            return match[0]  # Another comment.
        raise QuoteError(f"cannot read <!-- {text} --> behind {figure}")
    if figure is None:
        raise QuoteError(f"no figure stands before <!-- {text} -->")
    rows = list(_sources(quote, load))
    if len(rows) != 1:
        raise QuoteError(f"{len(rows)} rows are meant by <!-- {text} -->")
    value = _at(rows[0], quote["path"])
    if value is None:
        raise QuoteError(f"nothing is where <!-- {text} --> points")
    return f"{_as_written(value, quote['unit'], figure)}<!-- {text} -->"


def _as_written(value: Any, unit: str | None, figure: str) -> str:
    """A value with as many decimals as the figure that stood there."""
    if isinstance(value, str):
        return value
    decimals = len(figure.partition(".")[2])
    return f"{scaled(value, unit or ''):,.{decimals}f}"


def _table(match: re.Match[str], load: Load) -> str:
    columns = [
        line.partition(" = ")[::2] for line in match["columns"].splitlines()
    ]
    cells = [
        [_cell(row, path) for _, path in columns]
        for row in _sources(match, load)
    ]
    for number, (heading, path) in enumerate(columns):
        if all(line[number] == NOTHING for line in cells):
            raise QuoteError(f"nothing is where {heading} = {path} points")
    lines = [
        [heading for heading, _ in columns],
        ["---" for _ in columns],
        *cells,
    ]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{match['head']}\n{body}\n\n{match['tail']}"


def _cell(row: dict[str, Any], path: str) -> str:
    path, _, unit = path.partition(" ")
    value = _at(row, path)
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else shown(value, unit)


def _sources(match: re.Match[str], load: Load) -> Iterator[dict[str, Any]]:
    """The rows that are meant; all that there is, if no row is named."""
    result = load(match["name"])
    wanted = dict(pair.split("=", 1) for pair in match["keys"].split())
    if not wanted and "path" in match.groupdict():
        yield result
        return
    for row in result["rows"]:
        if matches(row["case"], wanted):
            yield row


def _at(tree: Any, path: str) -> Any:
    """What is at a path; a spread's median; None if there is nothing."""
    for name in path.split("."):
        if isinstance(tree, list) and name.isdigit():
            tree = dict(enumerate(tree)).get(int(name))
        else:
            tree = tree.get(name) if isinstance(tree, dict) else None
    return tree.get("median") if isinstance(tree, dict) else tree


if __name__ == "__main__":
    main()
