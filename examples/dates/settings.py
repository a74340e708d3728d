"""What a run is asked for."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    """The defaults stay within three minutes on two cores."""

    attention: str = "bahdanau"
    order: str = "bahdanau"
    epochs: int = 2
    train_strings: int = 80_000
    minutes: float = 2.5
    units: int = 128
    layers: int = 1
    embedding: int = 32
    dropout: float = 0.0
    batch_size: int = 64
    learning_rate: float = 4e-3
    seed: int = 1


CHOICES = {
    "attention": ("bahdanau", "bahdanau-normalized", "luong"),
    "order": ("bahdanau", "luong"),
}

#: What --resume cannot change: the model and its data.
FIXED = (
    *("attention", "order", "train_strings", "units", "layers", "embedding"),
    "seed",
)
