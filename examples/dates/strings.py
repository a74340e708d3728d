"""Days and the strings that mean them, and no other day."""

import datetime
import random
from collections.abc import Sequence
from typing import NamedTuple

from dates.readings import FIRST_DAY, LAST_DAY, Readings


class DateString(NamedTuple):
    """A date as it is written in a language, and in ISO 8601."""

    text: str
    iso: str
    language: str


def all_days() -> list[str]:
    """From the first day to the last, in ISO 8601."""
    first, last = FIRST_DAY.toordinal(), LAST_DAY.toordinal()
    return [
        datetime.date.fromordinal(number).isoformat()
        for number in range(first, last + 1)
    ]


def draw(
    readings: Readings, days: Sequence[str], count: int, seed: int
) -> list[DateString]:
    """Days in some of their styles.

    Args:
        readings: Of all styles.
        days: In ISO 8601.
        count: How many strings at most: those that have more than one date,
            or that were drawn in another language, are left out.
        seed: Of what is drawn.
    """
    choices = range(len(days) * len(readings.styles))
    drawn = random.Random(seed).sample(choices, min(count, len(choices)))
    strings: dict[str, DateString] = {}
    for number in drawn:
        which_style, which_day = divmod(number, len(days))
        style, iso = readings.styles[which_style], days[which_day]
        text = style.write(datetime.date.fromisoformat(iso))
        if len(readings.dates(text)) == 1 and text not in strings:
            strings[text] = DateString(text, iso, style.language)
    return list(strings.values())
