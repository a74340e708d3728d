"""Alignments of several words: letters x phonemes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pronouncing.dictionary import Phonemes

COLUMNS = 3


def draw(
    spoken: Mapping[str, tuple[Phonemes, np.ndarray]], title: str, path: Path
) -> None:
    """One panel a word, darker where the phoneme attends more."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    rows = -(-len(spoken) // COLUMNS)
    figure, panels = plt.subplots(
        rows,
        COLUMNS,
        figsize=(4.4 * COLUMNS, 3.9 * rows),
        layout="constrained",
        squeeze=False,
    )
    for panel in panels.flat[len(spoken) :]:
        panel.axis("off")
    for panel, (word, (phonemes, weights)) in zip(
        panels.flat, spoken.items(), strict=False
    ):
        image = _panel(panel, word, phonemes, weights)
    figure.suptitle(title)
    figure.colorbar(image, ax=panels, shrink=0.5, label="attention weight")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _panel(panel, word: str, phonemes: Phonemes, weights: np.ndarray):
    image = panel.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    panel.set_xticks(range(len(word)), list(word))
    panel.set_yticks(range(len(phonemes) + 1), [*phonemes, "end"])
    panel.set_xlabel("letters")
    panel.set_ylabel("phonemes")
    panel.set_title(word)
    return image
