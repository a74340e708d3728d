"""Export, and what TensorFlow alone makes of it."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras_attention as ka
from sequences.run import Run


def export(
    model: ka.EncoderDecoder, run: Run, script: Path, **searches: Any
) -> None:
    """The SavedModel with these searches; beside it, the script for it."""
    model.export(str(run.saved_model), searches=searches)
    shutil.copyfile(script, run.decode_script)


def answers_without_keras(run: Run, questions: Sequence[str]) -> dict[str, str]:
    """What the script answers, in a process that imports TensorFlow only.

    It reads one question a line, and writes it, a tab and the answer.
    """
    finished = subprocess.run(
        [sys.executable, run.decode_script],
        input="\n".join(questions),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if finished.returncode:
        raise RuntimeError(f"the SavedModel failed:\n{finished.stderr}")
    return dict(line.split("\t") for line in finished.stdout.splitlines())
