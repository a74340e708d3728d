"""Export, and the proof that TensorFlow alone gives the same phonemes."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import keras

from pronouncing.decoding import Pronouncer, greedy
from pronouncing.dictionary import Phonemes
from pronouncing.run import Run

SCRIPT = Path(__file__).with_name("decode_saved_model.py")


def export(pronouncer: Pronouncer, run: Run) -> None:
    """One signature, `pronounce`: letters -> phonemes and alignments."""
    models = pronouncer.models
    archive = keras.export.ExportArchive()
    archive.track(models.encoder)
    archive.track(models.step)
    archive.add_endpoint(
        "pronounce",
        lambda letters: greedy(models, letters),
        input_signature=pronouncer.signature,
    )
    archive.write_out(str(run.saved_model), verbose=False)
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
