"""How good the pronunciations and the alignments are."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

import keras_attention as ka
from keras_attention.metrics.error_rates import ErrorRates
from pronouncing.dictionary import Phonemes, Pronunciations


def error_rates(
    spoken: Mapping[str, Phonemes], pronunciations: Pronunciations
) -> ErrorRates:
    """Each word counts against the nearest of its pronunciations."""
    return ka.error_rates(
        list(spoken.values()), [pronunciations[word] for word in spoken]
    )


def told(rates: ErrorRates) -> str:
    return (
        f"phoneme error rate {rates.token:.2%}, "
        f"word error rate {rates.sequence:.2%} on {rates.sequences:,} words"
    )


@dataclasses.dataclass(frozen=True)
class Straightness:
    """Does the attention read as one reads?

    forward: share of the steps from phoneme to phoneme on which the
        strongest letter does not move back.
    sharpness: mean weight of the strongest letter.
    """

    forward: float
    sharpness: float

    def __str__(self) -> str:
        return (
            f"{self.forward:.1%} of its steps never move back, and the "
            f"strongest letter gets {self.sharpness:.0%} of the weight"
        )


def straightness(alignments: Iterable[np.ndarray]) -> Straightness:
    """Of `(phonemes, letters)` weights, one matrix a word."""
    forward: list[bool] = []
    strongest: list[float] = []
    for weights in alignments:
        forward.extend(np.diff(weights.argmax(axis=1)) >= 0)
        strongest.extend(weights.max(axis=1))
    return Straightness(
        float(np.mean(forward)) if forward else 1.0, float(np.mean(strongest))
    )


def verdict(phonemes: Phonemes, references: Sequence[Phonemes]) -> str:
    """`"right"`, or what the dictionary says instead."""
    if phonemes in references:
        return "right"
    return "dictionary: " + " or ".join(map(" ".join, references))
