"""Dates as people write them, in many languages, to ISO 8601.

An encoder-decoder with Bahdanau's attention reads a date character by
character and writes it as `2016-03-02`. It learns from strings that the PyPI
package `babel` writes, which ships the formats of the Unicode CLDR (nothing is
downloaded): the Gregorian calendar from 1970 to 2029, in full, long, medium,
short and some further styles of each language, in its own digits, in lower
case. A string that could be another date in some style or language, such as
03/02/16, is left out; two digits of a year are those of the one year from 1970
to 2029.

The days are split by a fixed hash: what is tested are days that were seen in
no language.

    python examples/translate_dates.py
    python examples/translate_dates.py --translate "2 mars 2016" "3/31/16"
    python examples/translate_dates.py --beam 3 --translate "5 listopada 2016"

The model: Bahdanau et al., 2015, https://arxiv.org/abs/1409.0473
"""

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import common
from dates import vocabulary
from dates.decode_saved_model import typed
from dates.readings import Readings
from dates.settings import CHOICES, FIXED, Settings
from dates.strings import DateString, all_days, draw
from dates.styles import LOCALES, styles
from sequences.run import Run, read_json, write_json
from sequences.settings import add_options, chosen, number, resumed
from sequences.splitting import split
from sequences.symbols import Symbols, UnknownSymbol

if TYPE_CHECKING:
    from dates.translator import Translator

NEEDED = ("keras_attention", "babel", "matplotlib")
DEFAULT_FOLDER = Path("runs/dates")
DEV_STRINGS = 2_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    for module in NEEDED:
        common.require(module, "examples")
    try:
        if options.translate:
            translate(options)
        else:
            learn(options)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        raise SystemExit(130) from None


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--run",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="FOLDER",
        help="where everything is written (default: %(default)s)",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in the folder"
    )
    parser.add_argument(
        "--translate", nargs="+", metavar="DATE", help="use the trained run"
    )
    parser.add_argument(
        "--test-strings",
        type=number(int, "test_strings"),
        default=10_000,
        metavar="N",
        help="draw so many, less those that are unclear (default: %(default)s)",
    )
    parser.add_argument(
        "--beam",
        type=number(int, "beam"),
        default=1,
        metavar="WIDTH",
        help="follow so many hypotheses; --translate shows them all "
        "(default: %(default)s, greedy)",
    )
    add_options(parser, Settings, CHOICES)
    return parser


def translate(options: argparse.Namespace) -> None:
    """Prints each date in ISO 8601, with its probability."""
    run = trained(options.run)
    characters = vocabulary.characters(read_json(run.vocabulary))
    for text in options.translate:
        require_known(text, characters)
    translator = load(run, options.beam)
    for text in options.translate:
        for iso, probability in translator.hypotheses(typed(text)):
            print(f"{text}\t{iso}\t{probability:.3f}")


def require_known(text: str, characters: Symbols) -> None:
    """Ends the program if a date is empty or has other characters."""
    if not typed(text):
        common.fail(f"there is no date in {text!r}")
    try:
        characters.encode(typed(text))
    except UnknownSymbol as error:
        common.fail(f"in {text!r}, {error}")


def trained(folder: Path) -> Run:
    """The run in the folder; ends the program if there is none."""
    run = Run(folder)
    if not run.model.exists():
        common.fail(
            f"no trained run in {folder}; "
            f"train one: python examples/translate_dates.py --run {folder}"
        )
    return run


def learn(options: argparse.Namespace) -> None:
    """Trains a run, or more of it, and shows what came of it."""
    started = time.monotonic()
    run = Run(common.writable_folder(options.run))
    readings = Readings(styles())
    settings = begin(options, run, readings)
    strings = draw_all(readings, settings, options.test_strings)
    fit(run, settings, strings)
    translator = load(run, options.beam)

    from dates.report import report  # Now TensorFlow has been silenced.

    figures = report(run, translator, strings["test"])
    seconds = time.monotonic() - started
    write_json(
        run.results,
        {
            "attention": settings.attention,
            "beam": options.beam,
            **figures,
            "seconds": round(seconds, 1),
        },
    )
    print_next(run, settings, seconds)


def begin(
    options: argparse.Namespace, run: Run, readings: Readings
) -> Settings:
    """The settings of a new run, or of the one that is resumed."""
    if options.resume:
        before = Settings(**read_json(trained(run.folder).settings))
        settings = resumed(options, before, FIXED)
    else:
        settings = chosen(options, Settings())
        run.clear()
        write_json(run.vocabulary, vocabulary.names(readings.characters))
    write_json(run.settings, dataclasses.asdict(settings))
    return settings


def draw_all(
    readings: Readings, settings: Settings, test_strings: int
) -> dict[str, list[DateString]]:
    """Strings of each side's days."""
    counts = {
        "train": settings.train_strings,
        "dev": DEV_STRINGS,
        "test": test_strings,
    }
    days = split(all_days())
    strings = {
        side: draw(readings, days[side], count, settings.seed)
        for side, count in counts.items()
    }
    print(
        f"{len(LOCALES)} languages and variants in {len(readings.styles)} "
        f"styles; {len(strings['train']):,} strings of "
        f"{len(days['train']):,} days to learn from"
    )
    return strings


def fit(
    run: Run, settings: Settings, strings: dict[str, list[DateString]]
) -> None:
    common.silence_tensorflow()
    from dates.network import LENGTHS, new_model, pairs
    from sequences.learning import learn_pairs

    characters = vocabulary.characters(read_json(run.vocabulary))
    learn_pairs(
        run,
        settings,
        lambda: new_model(settings, characters),
        pairs(strings["train"], characters),
        pairs(strings["dev"], characters),
        LENGTHS,
    )


def load(run: Run, beam: int) -> "Translator":
    """The best weights of a run, ready to translate."""
    common.silence_tensorflow()
    import keras
    from dates.translator import Translator

    import keras_attention  # noqa: F401 - registers the layers of the model

    model = keras.models.load_model(run.model, compile=False)
    characters = vocabulary.characters(read_json(run.vocabulary))
    return Translator(model, characters, beam)


def print_next(run: Run, settings: Settings, seconds: float) -> None:
    script = "python examples/translate_dates.py"
    where = "" if run.folder == DEFAULT_FOLDER else f" --run {run.folder}"
    print(
        f"""
{run.folder} holds, after {seconds:.0f} s:
  {run.picture.name:16} ISO dates x dates as they were read
  {run.model.name:16} for keras.models.load_model
  {run.saved_model.name:16} for tf.saved_model.load
Next:
  {script}{where} --translate "2 mars 2016" "March 2nd, 2016"
  {script}{where} --beam 3 --translate "5 listopada 2016"
  {script}{where} --resume --epochs {2 * settings.epochs}
  {script} --attention luong --run runs/dates-luong
  python {run.decode_script} "2 mars 2016\""""
    )


if __name__ == "__main__":
    main()
