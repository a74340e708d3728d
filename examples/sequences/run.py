"""The files of a run, all in one folder."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: Path

    @property
    def model(self) -> Path:
        """The weights that were best on the dev pairs."""
        return self.folder / "model.keras"

    @property
    def latest(self) -> Path:
        """Where the training can go on, optimizer included."""
        return self.folder / "latest.keras"

    @property
    def history(self) -> Path:
        return self.folder / "history.csv"

    @property
    def saved_model(self) -> Path:
        return self.folder / "saved_model"

    @property
    def decode_script(self) -> Path:
        """Decodes with the SavedModel in a process without Keras."""
        return self.folder / "decode.py"

    @property
    def picture(self) -> Path:
        return self.folder / "alignments.png"

    @property
    def results(self) -> Path:
        return self.folder / "results.json"

    @property
    def vocabulary(self) -> Path:
        return self.folder / "vocabulary.json"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"

    def clear(self) -> None:
        """Removes what an earlier training left."""
        for stale in (self.model, self.latest, self.history, self.results):
            stale.unlink(missing_ok=True)
        shutil.rmtree(self.saved_model, ignore_errors=True)


def write_json(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
