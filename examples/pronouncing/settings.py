"""What a run is asked for."""

import dataclasses

from pronouncing.mechanisms import MECHANISMS


@dataclasses.dataclass(frozen=True)
class Settings:
    """Of the quick setting."""

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

CHOICES = {"attention": list(MECHANISMS), "order": ["luong", "bahdanau"]}

# What --resume cannot change: the model and its data.
FIXED = (
    "attention",
    "order",
    "units",
    "layers",
    "embedding",
    "train_words",
)
