"""Words in, phonemes and alignments out."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from sequences.alignments import Alignment
from sequences.generating import generated, search

import keras_attention as ka
from pronouncing.dictionary import Phonemes, Vocabulary
from pronouncing.network import LENGTHS

BATCH_SIZE = 500


@dataclasses.dataclass(frozen=True)
class Spoken:
    """Phonemes, and the weights `(phonemes and end mark, letters)`."""

    phonemes: Phonemes
    weights: np.ndarray

    def alignment(self, word: str) -> Alignment:
        return Alignment([*self.phonemes, "end"], word, self.weights, word)


class Pronouncer:
    """A trained model, asked in large batches.

    Args:
        model: A trained model.
        vocabulary: Its letters and phonemes.
        beam: How many hypotheses are followed.
    """

    def __init__(
        self, model: ka.EncoderDecoder, vocabulary: Vocabulary, beam: int = 1
    ) -> None:
        self.model = model
        self.vocabulary = vocabulary
        self.search = search(beam)

    def __call__(self, words: Sequence[str]) -> dict[str, Spoken]:
        words = sorted(set(words))
        found = generated(
            self.model,
            [self.vocabulary.encode_word(word) for word in words],
            BATCH_SIZE,
            LENGTHS[-1][0],
            **self.search,
        )
        return {
            word: Spoken(
                self.vocabulary.phonemes.decode(written.tokens),
                written.weights,
            )
            for word, written in zip(words, found, strict=True)
        }
