"""BLEU of translations, and what unknown words mean for it."""

import dataclasses
from collections.abc import Sequence

import keras_attention as ka
from captions.multi30k import SentencePair, Words
from captions.vocabulary import Vocabulary, unknown_words
from keras_attention.metrics.bleu import Bleu


def bleu(translations: Sequence[Words], pairs: Sequence[SentencePair]) -> Bleu:
    """Of the tokens as they are; the references keep all of their words."""
    return ka.bleu(
        [" ".join(words) for words in translations],
        [[" ".join(pair.english)] for pair in pairs],
        tokenize="none",
        force=True,  # Else it doubts that tokens are what is meant.
    )


@dataclasses.dataclass(frozen=True)
class Unknown:
    """Shares of the words that a model has no number for."""

    german: float
    english: float

    def __str__(self) -> str:
        return (
            f"{self.german:.1%} of the German words are unknown to it, and "
            f"{self.english:.1%} of those of the references, which count as "
            "they are: it cannot write them"
        )


def unknown(vocabulary: Vocabulary, pairs: Sequence[SentencePair]) -> Unknown:
    german, english = zip(*pairs, strict=True)
    return Unknown(
        len(unknown_words(vocabulary.german, german)) / sum(map(len, german)),
        len(unknown_words(vocabulary.english, english))
        / sum(map(len, english)),
    )
