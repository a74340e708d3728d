"""How dates are written: languages and styles out of the CLDR, by Babel."""

import dataclasses
import datetime
import functools
from collections.abc import Iterator

from dates.decode_saved_model import typed

LATIN = (
    "af az bs ca cs cy da de en en_GB es et eu fi fil fo fr fr_CA ga gd gl ha "
    "hr hu id ig is it lb lt lv ms mt nb nl nn pl pt rm ro sk sl so sq "
    "sr_Latn sv sw tk tr uz vi wo yo zu"
)
CYRILLIC_GREEK_CAUCASIAN = "be bg kk ky mk mn ru sr tg uk el hy ka"
SEMITIC_ARABIC_ETHIOPIC = "he yi ar ar_EG fa ps sd ur am"
INDIC_SOUTHEAST_ASIAN = "as bn gu hi kn kok ml mr ne or pa si ta te km lo my th"
EAST_ASIAN = "ja ko yue zh zh_Hant"
LOCALES = " ".join(
    (
        LATIN,
        CYRILLIC_GREEK_CAUCASIAN,
        SEMITIC_ARABIC_ETHIOPIC,
        INDIC_SOUTHEAST_ASIAN,
        EAST_ASIAN,
    )
).split()

LENGTHS = ("full", "long", "medium", "short")
SKELETONS = ("yMMMd", "yMMMEd", "yMd", "yMEd")
# English is also written so, which the CLDR has not.
ORDINALS = {
    "en": ("MMMM d'{th}', y", "MMMM d'{th}' y"),
    "en_GB": ("d'{th}' MMMM y", "d'{th}' 'of' MMMM y"),
}
# The zeros of numbering systems; the other digits follow.
ZEROS = {"arab": "٠", "arabext": "۰", "beng": "০", "deva": "०", "mymr": "၀"}


@dataclasses.dataclass(frozen=True)
class Style:
    """One way of a language to write a date of the Gregorian calendar."""

    locale: str
    pattern: str

    @property
    def language(self) -> str:
        """Its name in English."""
        return _locale(self.locale).english_name

    @classmethod
    def full(cls, locale: str) -> "Style":
        """With the day of the week, and no abbreviations."""
        return cls(locale, _locale(locale).date_formats["full"].pattern)

    def write(self, day: datetime.date) -> str:
        from babel.dates import format_date

        text = format_date(day, self.pattern, _locale(self.locale))
        text = text.replace("{th}", _english_ordinal(day.day))
        return typed(text.translate(_digits(self.locale)))


def styles() -> Iterator[Style]:
    """Each language's own, every pattern once."""
    for name in LOCALES:
        locale = _locale(name)
        patterns = [locale.date_formats[length] for length in LENGTHS]
        patterns += [locale.datetime_skeletons[key] for key in SKELETONS]
        texts = [pattern.pattern for pattern in patterns]
        for text in dict.fromkeys([*texts, *ORDINALS.get(name, ())]):
            yield Style(name, text)


@functools.cache
def _locale(name: str):
    from babel import Locale

    return Locale.parse(name)


@functools.cache
def _digits(name: str) -> dict[int, int]:
    """From Western digits to those of the language, which Babel leaves out."""
    zero = ord(ZEROS.get(_locale(name).default_numbering_system, "0"))
    return {ord("0") + digit: zero + digit for digit in range(10)}


def _english_ordinal(number: int) -> str:
    if number in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
