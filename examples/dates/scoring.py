"""How many dates are right, in all and by language."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dates.strings import DateString


class Match(NamedTuple):
    """How many strings have exactly their date, of how many."""

    right: int
    counted: int

    @property
    def share(self) -> float:
        return self.right / self.counted

    def __str__(self) -> str:
        return f"{self.share:.2%} ({self.right:,} of {self.counted:,})"


def exact(strings: Sequence[DateString], isos: Mapping[str, str]) -> Match:
    right = sum(isos[string.text] == string.iso for string in strings)
    return Match(right, len(strings))


def by_language(
    strings: Iterable[DateString], isos: Mapping[str, str]
) -> list[tuple[str, Match]]:
    """The worst first."""
    of_language: dict[str, list[DateString]] = defaultdict(list)
    for string in strings:
        of_language[string.language].append(string)
    matches = {
        language: exact(own, isos) for language, own in of_language.items()
    }
    return sorted(matches.items(), key=lambda item: (item[1].share, item[0]))
