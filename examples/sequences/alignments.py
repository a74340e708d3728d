"""Pictures of alignments: what was written x what was read."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

COLUMNS = 3


class Alignment(NamedTuple):
    """Weights `(written, read)` between the tokens of two sequences."""

    written: Sequence[str]
    read: Sequence[str]
    weights: np.ndarray
    title: str = ""


def draw(
    alignments: Sequence[Alignment],
    title: str,
    path: Path,
    columns: int = COLUMNS,
    panel: tuple[float, float] = (4.4, 3.9),
) -> None:
    """One panel each, darker where a written token attends more."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = -(-len(alignments) // columns)
    width, height = panel
    figure, panels = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        layout="constrained",
        squeeze=False,
    )
    for axes in panels.flat[len(alignments) :]:
        axes.axis("off")
    for axes, alignment in zip(panels.flat, alignments, strict=False):
        image = _panel(axes, alignment)
    figure.suptitle(title)
    figure.colorbar(image, ax=panels, shrink=0.5, label="attention weight")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _panel(axes, alignment: Alignment):
    image = axes.imshow(
        alignment.weights, cmap="Blues", vmin=0, vmax=1, aspect="auto"
    )
    rotation = 60 if max(map(len, alignment.read)) > 2 else 0
    axes.set_xticks(
        range(len(alignment.read)), alignment.read, rotation=rotation
    )
    axes.set_yticks(range(len(alignment.written)), alignment.written)
    axes.set_title(alignment.title)
    return image
