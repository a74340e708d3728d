"""German sentences in, English ones and alignments out."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from sequences.alignments import Alignment
from sequences.generating import generated, search
from sequences.symbols import UNKNOWN

import keras_attention as ka
from captions.multi30k import Words
from captions.network import LENGTHS
from captions.vocabulary import Vocabulary

BATCH_SIZE = 100
LENGTH_PENALTY = 1.0


@dataclasses.dataclass(frozen=True)
class Translation:
    """English words, and the weights `(words and end mark, German words)`."""

    english: Words
    weights: np.ndarray

    def alignment(self, german: Words) -> Alignment:
        return Alignment([*self.english, "end"], german, self.weights)


class Translator:
    """A trained model, asked in large batches.

    Args:
        model: A trained model.
        vocabulary: Its German and English words.
        beam: How many hypotheses are followed.
    """

    def __init__(
        self, model: ka.EncoderDecoder, vocabulary: Vocabulary, beam: int
    ) -> None:
        self.model = model
        self.vocabulary = vocabulary
        self.search = {
            **search(beam),
            "length_penalty": LENGTH_PENALTY,
            "forbidden": (UNKNOWN,),
        }

    def __call__(self, sentences: Sequence[Words]) -> dict[Words, Translation]:
        # Of similar length, so that a batch ends as soon as it can.
        sentences = sorted(
            set(sentences), key=lambda words: (len(words), words)
        )
        written = generated(
            self.model,
            [self.vocabulary.german.encode(words) for words in sentences],
            BATCH_SIZE,
            LENGTHS[-1][0],
            **self.search,
        )
        return {
            words: Translation(
                self.vocabulary.english.decode(found.tokens), found.weights
            )
            for words, found in zip(sentences, written, strict=True)
        }
