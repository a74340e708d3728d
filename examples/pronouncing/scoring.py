"""How good the pronunciations and the alignments are."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pronouncing.dictionary import Phonemes, Pronunciations


@dataclasses.dataclass(frozen=True)
class ErrorRates:
    """Shares of wrong phonemes and of wrong words, and their number."""

    phonemes: float
    words: float
    counted: int

    def __str__(self) -> str:
        return (
            f"phoneme error rate {self.phonemes:.2%}, "
            f"word error rate {self.words:.2%} on {self.counted:,} words"
        )


def error_rates(
    spoken: Mapping[str, Phonemes], pronunciations: Pronunciations
) -> ErrorRates:
    """Each word counts against the nearest of its pronunciations."""
    from rapidfuzz.distance import Levenshtein

    edits = length = wrong = 0
    for word, phonemes in spoken.items():
        distance, reference = min(
            (Levenshtein.distance(phonemes, variant), len(variant))
            for variant in pronunciations[word]
        )
        edits += distance
        length += reference
        wrong += distance > 0
    return ErrorRates(edits / length, wrong / len(spoken), len(spoken))


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
