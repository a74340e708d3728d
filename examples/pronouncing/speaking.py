"""Words in, phonemes and alignments out."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sequences.alignments import Alignment
from sequences.batches import pad

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


def search(beam: int) -> dict[str, Any]:
    """The options of `generate` for a beam so wide."""
    if beam == 1:
        return {"strategy": "greedy"}
    return {"strategy": "beam", "width": beam}


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
        spoken: dict[str, Spoken] = {}
        for first in range(0, len(words), BATCH_SIZE):
            spoken.update(self._batch(words[first : first + BATCH_SIZE]))
        return spoken

    def _batch(self, words: Sequence[str]) -> Iterator[tuple[str, Spoken]]:
        rows = [self.vocabulary.encode_word(word) for word in words]
        # One shape for all batches: one program.
        longest = max(LENGTHS[-1][0], *map(len, rows))
        rows_padded = pad(rows, (BATCH_SIZE, longest))
        found = self.model.generate(rows_padded, **self.search)
        tokens, weights = map(np.asarray, (found.tokens, found.alignments))
        for index, (word, row) in enumerate(zip(words, rows, strict=True)):
            phonemes = self.vocabulary.phonemes.decode(tokens[index])
            steps = slice(len(phonemes) + 1)
            yield word, Spoken(phonemes, weights[index, steps, : len(row)])
