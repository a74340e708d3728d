"""The files of a run, all in one folder."""

import dataclasses
import json
import shutil
from pathlib import Path

from sequences.training import Kept

from pronouncing.dictionary import Vocabulary


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a run was asked for."""

    attention: str = "bahdanau"
    order: str = "bahdanau"
    epochs: int = 4
    train_words: int | None = 100_000
    minutes: float = 2.5
    units: int = 128
    layers: int = 1
    embedding: int = 64
    dropout: float = 0.0
    batch_size: int = 64
    learning_rate: float = 4e-3
    seed: int = 1


FULL = Settings(
    epochs=13,
    train_words=None,
    minutes=20.0,
    units=256,
    dropout=0.3,
    batch_size=128,
    learning_rate=2e-3,
)


@dataclasses.dataclass(frozen=True)
class Run(Kept):
    """A run folder."""

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
    def _settings(self) -> Path:
        return self.folder / "settings.json"

    @property
    def _vocabulary(self) -> Path:
        return self.folder / "vocabulary.json"

    def start(self, settings: Settings, vocabulary: Vocabulary) -> None:
        """Empties the folder of an earlier run and writes these."""
        self.clear()
        self.results.unlink(missing_ok=True)
        shutil.rmtree(self.saved_model, ignore_errors=True)
        self.keep_settings(settings)
        write_json(self._vocabulary, vocabulary.names())

    def keep_settings(self, settings: Settings) -> None:
        write_json(self._settings, dataclasses.asdict(settings))

    def settings(self) -> Settings:
        return Settings(**json.loads(self._settings.read_text()))

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.read(self._vocabulary)


def write_json(path: Path, content: object) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
