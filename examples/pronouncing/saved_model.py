"""Export, and the proof that TensorFlow alone gives the same phonemes."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pronouncing.dictionary import Phonemes
from pronouncing.run import Run
from pronouncing.speaking import Pronouncer

SCRIPT = Path(__file__).with_name("decode_saved_model.py")


def export(pronouncer: Pronouncer, run: Run) -> None:
    """One search, `pronounce`: letters -> phonemes and alignments."""
    pronouncer.model.export(
        str(run.saved_model), searches={"pronounce": pronouncer.search}
    )
    shutil.copyfile(SCRIPT, run.decode_script)


def pronounce_without_keras(
    run: Run, words: Sequence[str]
) -> dict[str, Phonemes]:
    """In a fresh process that imports tensorflow and numpy only."""
    finished = subprocess.run(
        [sys.executable, run.decode_script],
        input="\n".join(words),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if finished.returncode:
        raise RuntimeError(f"the SavedModel failed:\n{finished.stderr}")
    lines = (line.split("\t") for line in finished.stdout.splitlines())
    return {word: tuple(phonemes.split()) for word, phonemes in lines}
