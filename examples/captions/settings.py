"""What a run is asked for."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    """The defaults stay within half an hour on two cores."""

    attention: str = "bahdanau"
    epochs: int = 12
    minutes: float = 28.0
    train_pairs: int = 29_000
    units: int = 256
    embedding: int = 256
    layers: int = 1
    dropout: float = 0.3
    label_smoothing: float = 0.1
    batch_size: int = 64
    learning_rate: float = 1e-3
    seed: int = 1


CHOICES = {"attention": ("luong", "bahdanau")}

#: What --resume cannot change: the model and its data.
FIXED = ("attention", "train_pairs", "units", "embedding", "layers")
