"""Words as integers, those that are frequent enough."""

import collections
import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sequences.symbols import UNKNOWN, Symbols

from captions.multi30k import SentencePair, Words

if TYPE_CHECKING:
    from sequences.batches import Pair

#: Rarer words are one and the same: unknown.
SEEN_AT_LEAST = 2


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """German and English words."""

    german: Symbols
    english: Symbols

    @classmethod
    def of(cls, pairs: Sequence[SentencePair]) -> "Vocabulary":
        """Of the words in the training pairs."""
        german, english = zip(*pairs, strict=True)
        return cls(_frequent(german), _frequent(english))

    @classmethod
    def of_names(cls, names: dict[str, Sequence[str]]) -> "Vocabulary":
        """Out of what `names` gives."""
        return cls(**{k: Symbols(tuple(v)) for k, v in names.items()})

    def names(self) -> dict[str, Sequence[str]]:
        return {"german": self.german.names, "english": self.english.names}

    def pairs(self, pairs: Iterable[SentencePair]) -> "list[Pair]":
        """As a model learns them."""
        return [
            (self.german.encode(german), self.english.marked(english))
            for german, english in pairs
        ]


def unknown_words(symbols: Symbols, sentences: Iterable[Words]) -> list[str]:
    """The words, as often as they stand there, that have no number."""
    return [
        word
        for words in sentences
        for word, index in zip(words, symbols.encode(words), strict=True)
        if index == UNKNOWN
    ]


def split(sentence: str) -> Words:
    """Words and punctuation marks in lower case, much as Moses has them."""
    return tuple(re.findall(r"[\w'-]+|[^\w\s]", sentence.lower()))


def _frequent(sentences: Iterable[Words]) -> Symbols:
    """The most frequent words first."""
    counts = collections.Counter(word for words in sentences for word in words)
    return Symbols.of(
        (
            word
            for word, count in counts.most_common()
            if count >= SEEN_AT_LEAST
        ),
        with_unknown=True,
    )
