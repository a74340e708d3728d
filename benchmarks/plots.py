"""Time and memory over length, as a picture."""

from pathlib import Path
from typing import Any

Row = dict[str, Any]

#: What rows of one panel have in common.
MODE = ("layer", "way", "lengths", "dtype")

#: Measure, and what its axis says.
MEASURES = {
    "seconds": "seconds",
    "warm_seconds": "seconds",
    "peak_mebibytes": "peak MiB",
}


#: How lines are drawn of what is no layer.
LIMITS = {"limit": "--", "least": ":"}


def draw(result: dict[str, Any], path: Path) -> bool:
    """Draws time (left) and peak memory (right), a row of panels per mode.

    Args:
        result: Of a benchmark.
        path: The picture.

    Returns:
        Whether there was anything to draw: more than one length.
    """
    panels = _panels(result["rows"])
    if len({row["case"]["steps"] for row in result["rows"]}) < 2:
        return False
    from matplotlib.figure import Figure

    measures = [
        m for m in MEASURES if any(_lines(p, m) for p in panels.values())
    ]
    figure = Figure(
        figsize=(4.2 * len(measures), 2.6 * len(panels) + 0.6),
        layout="constrained",
    )
    grid = figure.subplots(len(panels), len(measures), squeeze=False)
    for axes_of_mode, (mode, rows) in zip(grid, panels.items(), strict=True):
        for axes, measure in zip(axes_of_mode, measures, strict=True):
            _panel(axes, mode, _lines(rows, measure), MEASURES[measure])
    handles = {
        line.get_label(): line for axes in grid.flat for line in axes.lines
    }
    figure.legend(
        handles.values(), handles, loc="outside upper center", ncols=4
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return True


def _panels(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each mode: all that share layer, way and dtype."""
    panels: dict[str, list[Row]] = {}
    for row in rows:
        words = [row["case"].get(key, "") for key in MODE]
        panels.setdefault(" ".join(filter(None, words)), []).append(row)
    return panels


def _lines(rows: list[Row], measure: str) -> dict[str, list[tuple[int, float]]]:
    """For each side, its lengths and figures."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for side, measures in row["sides"].items():
            value = measures.get(measure)
            if isinstance(value, dict):
                value = value["median"]
            if value is not None:
                point = row["case"]["steps"], value
                lines.setdefault(side, []).append(point)
    return lines


def _panel(axes: Any, mode: str, lines: Any, label: str) -> None:
    if not lines:  # Not measured in this mode.
        axes.set_axis_off()
        return
    for side, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), label=side, **_look(side))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    steps = sorted({steps for points in lines.values() for steps, _ in points})
    axes.set_xticks(steps, [f"{number:,}" for number in steps])
    for axis in (
        axes.yaxis.set_major_formatter,
        axes.yaxis.set_minor_formatter,
    ):
        axis(_number)
    axes.set_title(mode, fontsize="medium")
    axes.set_xlabel("T")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)


def _number(value: float, _place: int) -> str:
    """A tick's label, where the tick is 1, 2 or 5 times a power of ten."""
    leading = f"{value:e}".partition("e")[0].rstrip("0.")
    return f"{value:,g}" if leading in ("1", "2", "5") else ""


def _look(side: str) -> dict[str, Any]:
    """Ours is the thick line, a limit dashed or dotted."""
    if side == "ours":
        return {"color": "C0", "linewidth": 2.5, "marker": "o"}
    if side in LIMITS:
        return {"color": "0.4", "linestyle": LIMITS[side]}
    colors = {"keras": "C1", "torch": "C3", "unchecked": "C4"}
    return {"color": colors.get(side, "C2"), "marker": "s"}
