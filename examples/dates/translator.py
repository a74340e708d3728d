"""Dates as people write them in, ISO dates and alignments out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sequences.alignments import Alignment
from sequences.batches import pad
from sequences.generating import generated, search
from sequences.symbols import Symbols

import keras_attention as ka
from dates.network import LENGTHS
from dates.vocabulary import ISO

BATCH_SIZE = 500


class Translation(NamedTuple):
    """An ISO date, and the weights `(its characters and end mark, read)`."""

    iso: str
    weights: np.ndarray

    def alignment(self, text: str, title: str) -> Alignment:
        return Alignment([*self.iso, "end"], text, self.weights, title)


class Translator:
    """A trained model.

    Args:
        model: A trained model.
        characters: That it knows.
        beam: How many hypotheses are followed.
    """

    def __init__(
        self, model: ka.EncoderDecoder, characters: Symbols, beam: int
    ) -> None:
        self.model = model
        self.characters = characters
        self.beam = beam

    def __call__(self, texts: Sequence[str]) -> dict[str, Translation]:
        """The best that it finds, asked in large batches."""
        written = generated(
            self.model,
            [self.characters.encode(text) for text in texts],
            BATCH_SIZE,
            LENGTHS[-1][0],
            **search(self.beam),
        )
        return {
            text: Translation("".join(ISO.decode(found.tokens)), found.weights)
            for text, found in zip(texts, written, strict=True)
        }

    def hypotheses(self, text: str) -> list[tuple[str, float]]:
        """The whole beam: ISO dates and their probabilities, best first."""
        row = self.characters.encode(text)
        found = self.model.generate(
            pad([row], (1, max(LENGTHS[-1][0], len(row)))),
            n_best=self.beam,
            **search(self.beam),
        )
        return [
            ("".join(ISO.decode(tokens)), float(np.exp(log_prob)))
            for tokens, log_prob in zip(
                np.asarray(found.tokens)[0],
                np.asarray(found.log_probs)[0],
                strict=True,
            )
        ]
