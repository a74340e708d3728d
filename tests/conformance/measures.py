"""How to build every loss and metric, and what to measure: a line each."""

import dataclasses
from typing import Any

import keras
import numpy as np

import keras_attention as ka

#: As many examples as steps, so that a weight on the wrong axis is found out.
BATCH = STEPS = 4
SOURCES, CLASSES = 5, 6

#: Ids of three sentences and of padding, which is 0.
TARGETS = np.array([[3, 1, 4, 2], [5, 2, 0, 0], [0, 0, 0, 0], [1, 3, 5, 0]])
WORDS = np.array(
    [[7, 3, 8, 1, 0], [2, 5, 0, 0, 0], [0, 0, 0, 0, 0], [4, 4, 6, 9, 2]]
)


def logits() -> np.ndarray:
    random = np.random.default_rng(0)
    return random.normal(size=(BATCH, STEPS, CLASSES)).astype("float32")


def visible() -> np.ndarray:
    """Where target step and source position are real."""
    both = (TARGETS > 0)[:, :, None] & (WORDS > 0)[:, None, :]
    return both.astype("float32")


def weights() -> np.ndarray:
    """Attention weights, 0 where padded."""
    random = np.random.default_rng(1)
    portions = random.uniform(0.1, 1, (BATCH, STEPS, SOURCES)) * visible()
    total = portions.sum(axis=-1, keepdims=True)
    return (portions / np.where(total, total, 1)).astype("float32")


@dataclasses.dataclass(frozen=True)
class Measured:
    """A loss or a metric, and its arguments off their defaults."""

    cls: Any
    loaded: dict[str, Any]

    @property
    def is_loss(self) -> bool:
        return issubclass(self.cls, keras.losses.Loss)

    @property
    def is_of_tokens(self) -> bool:
        return "ignore_class" in self.cls.init_arguments()

    def build(self) -> Any:
        """Where it can, it takes 0 as padding; else `y_true` tells."""
        return self.cls(**({"ignore_class": 0} if self.is_of_tokens else {}))

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """`y_true` and `y_pred`, padded in the last three examples."""
        if self.is_of_tokens:
            return TARGETS, logits()
        return visible(), weights()

    def padding(self) -> np.ndarray:
        """What of `y_pred` is padding."""
        is_padding = self.arguments()[0] == 0
        shape = self.arguments()[1].shape
        if self.is_of_tokens:
            is_padding = is_padding[..., None]
        return np.broadcast_to(is_padding, shape)

    def model(self, measure: Any, **options: Any) -> keras.Model:
        """Its output is what is measured; an embedding made its masks."""
        ids = keras.Input((None,), dtype="int32")
        # Far apart: of weights that half precision rounds to the same, measures
        # that compare them have no gradient.
        far = keras.initializers.RandomNormal(stddev=1.0)
        x = keras.layers.Embedding(10, 3, far, mask_zero=True)(ids)
        if self.is_of_tokens:
            output = keras.layers.Dense(CLASSES)(x)
        else:
            _context, output = ka.BahdanauAttention(3)(
                x, x, return_attention_scores=True
            )
        model = keras.Model(ids, output)
        loss = measure if self.is_loss else ka.TokenCrossentropy()
        metrics = None if self.is_loss else [measure]
        adam = keras.optimizers.Adam(0.02)
        model.compile(adam, loss, weighted_metrics=metrics, **options)
        return model


LOSS = {"reduction": "sum", "name": "mine"}
METRIC = {"ignore_class": 0, "name": "mine", "dtype": "float64"}
SMOOTHED = {"label_smoothing": 0.1, "smooth_over": "others"}

MEASURED = [
    Measured(
        ka.TokenCrossentropy,
        {**SMOOTHED, "subtract_entropy": True, "ignore_class": 0, **LOSS},
    ),
    Measured(ka.DoublyStochasticLoss, {"factor": 0.5, **LOSS}),
    Measured(ka.GuidedAlignmentLoss, {"factor": 0.5, **LOSS}),
    Measured(ka.GuidedAttentionLoss, {"width": 0.3, "factor": 0.5, **LOSS}),
    Measured(ka.CoverageLoss, {"factor": 0.5, **LOSS}),
    Measured(ka.TokenAccuracy, METRIC),
    Measured(ka.Perplexity, METRIC),
]
