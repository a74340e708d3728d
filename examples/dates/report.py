"""What a trained model reaches: figures, mistakes, picture, SavedModel."""

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sequences import alignments, saved_model
from sequences.generating import search
from sequences.run import Run

from dates import scoring
from dates.strings import DateString
from dates.styles import Style
from dates.translator import Translator

WORST, MISTAKES, COMPARED, SHOWN = 6, 8, 500, 4
# The font of the picture has their letters.
DRAWN = ("en", "de", "ru", "el", "hu", "vi")
DECODE_SCRIPT = Path(__file__).with_name("decode_saved_model.py")


def report(
    run: Run, translator: Translator, tested: Sequence[DateString]
) -> dict[str, Any]:
    """Prints, draws and exports; returns the figures."""
    found = translator([string.text for string in tested])
    isos = {text: translation.iso for text, translation in found.items()}
    match = scoring.exact(tested, isos)
    days = {string.iso for string in tested}
    print(
        f"\nExact match on {len(days):,} days that it has seen in no "
        f"language: {match}\n"
    )
    print_worst(tested, isos)
    print_mistakes(tested, isos)
    draw(translator, max(days), run.picture)
    saved_model.export(
        translator.model,
        run,
        DECODE_SCRIPT,
        translate=search(translator.beam),
    )
    compare(run, {text: isos[text] for text in list(isos)[:COMPARED]})
    return {"exact_match": match.share, "counted": match.counted}


def print_worst(tested: Sequence[DateString], isos: dict[str, str]) -> None:
    print("The worst languages:")
    for language, match in scoring.by_language(tested, isos)[:WORST]:
        print(f"  {language:28} {match}")


def print_mistakes(tested: Sequence[DateString], isos: dict[str, str]) -> None:
    wrong = [string for string in tested if isos[string.text] != string.iso]
    print("\nSome mistakes:" if wrong else "\nNo mistakes.")
    for text, iso, language in wrong[:MISTAKES]:
        print(f"  {text}  ({language})\n    is {iso}, not {isos[text]}")


def draw(translator: Translator, iso: str, path: Path) -> None:
    """One day in several languages."""
    day = datetime.date.fromisoformat(iso)
    texts = {locale: Style.full(locale).write(day) for locale in DRAWN}
    found = translator(list(texts.values()))
    alignments.draw(
        [
            found[text].alignment(text, Style.full(locale).language)
            for locale, text in texts.items()
        ],
        f"Where each character of {iso} attends, a day that it has never seen",
        path,
        columns=2,
        panel=(6.5, 3.2),
    )


def compare(run: Run, isos: dict[str, str]) -> None:
    """Ends the program if the SavedModel says anything else."""
    answers = saved_model.answers_without_keras(run, list(isos))
    different = [text for text in isos if answers[text] != isos[text]]
    if different:
        print(
            "The SavedModel says other dates for " + ", ".join(different),
            file=sys.stderr,
        )
        raise SystemExit(1)
    print(
        "\nA fresh process with TensorFlow alone says the same for all "
        f"{len(isos)} strings, such as"
    )
    for text in list(isos)[:SHOWN]:
        print(f"  {answers[text]}  {text}")
