"""Which dates a string can mean, in any of the languages and styles.

A text with its numbers blotted out, such as `# mars #` or `#/#/#`, says what
each of its numbers is. Where languages disagree, as on `#/#/#`, each of them
has its own reading, and a string is ambiguous if two of these give dates.
"""

import dataclasses
import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from dates.styles import Style

YEARS = range(1970, 2030)
FIRST_DAY = datetime.date(YEARS[0], 1, 1)
LAST_DAY = datetime.date(YEARS[-1], 12, 31)


@dataclasses.dataclass(frozen=True)
class Reading:
    """What the numbers are, in their order; the month if it has a name."""

    roles: tuple[str, ...]
    month: int | None

    def date(self, numbers: Iterable[int]) -> datetime.date | None:
        """None if the numbers are no date of the years."""
        parts = dict(zip(self.roles, numbers, strict=True))
        month = parts.get("month", self.month)
        year = _whole_year(parts["year"])
        try:
            date = datetime.date(year, month, parts["day"])
        except ValueError:
            return None
        return date if date.year in YEARS else None


class Readings:
    """All readings of texts in these styles.

    Left out are styles with numbers of another kind, such as days of the week.

    Attributes:
        styles: All others.
        characters: What they are written in.
    """

    def __init__(self, styles: Iterable[Style]) -> None:
        self.styles: list[Style] = []
        self.characters: set[str] = set()
        self._of_blotted: dict[str, set[Reading]] = defaultdict(set)
        for style in styles:
            texts = {style.write(day): day for day in _telling_days()}
            readings = {text: _reading(text, texts[text]) for text in texts}
            if None not in readings.values():
                self._add(style, readings)

    def dates(self, text: str) -> set[datetime.date]:
        """All that the text can mean."""
        numbers = numbers_of(text)
        readings = self._of_blotted.get(blotted(text), ())
        return {reading.date(numbers) for reading in readings} - {None}

    def _add(self, style: Style, readings: dict[str, Reading]) -> None:
        self.styles.append(style)
        self.characters.update(*readings)
        for text, reading in readings.items():
            self._of_blotted[blotted(text)].add(reading)


def numbers_of(text: str) -> list[int]:
    """In whatever digits."""
    return [int(digits) for digits in re.findall(r"\d+", text)]


def blotted(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def _telling_days() -> Iterator[datetime.date]:
    """Each month and day of the week, and no number that could be another."""
    for month in range(1, 13):
        for day in range(17, 24):  # With 21st, 22nd and 23rd.
            yield datetime.date(1987, month, day)


def _reading(text: str, day: datetime.date) -> Reading | None:
    """None if the numbers are not the day, the year and at most the month."""
    roles = {
        day.year: "year",
        day.year % 100: "year",
        day.month: "month",
        day.day: "day",
    }
    found = tuple(roles.get(number, "") for number in numbers_of(text))
    if sorted(found) == ["day", "year"]:
        return Reading(found, day.month)
    if sorted(found) == ["day", "month", "year"]:
        return Reading(found, None)
    return None


def _whole_year(year: int) -> int:
    """Two digits are those of the one year in the range."""
    if year >= 100:
        return year
    return YEARS[0] + (year - YEARS[0]) % 100
