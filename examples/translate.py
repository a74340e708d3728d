"""German captions in English: words to words, with attention.

An encoder-decoder learns the 29,000 sentence pairs of Multi30k, in Bahdanau's
order or in Luong's with input feeding, and translates by beam search. It is
tested on test_2016_flickr. The data are derived from Flickr30k, and given to
researchers and educators for non-commercial research and education; nothing is
downloaded unless you ask for it.

    python examples/translate.py --download
    python examples/translate.py --data FOLDER --attention luong
    python examples/translate.py --translate "Ein Hund rennt durch den Schnee."

A word is known if the training pairs have it twice. Others are one and the
same to the encoder, and the decoder cannot write them.

References:
    [Luong et al., 2015](https://arxiv.org/abs/1508.04025);
    [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473).
"""

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import common
from captions import multi30k
from captions.multi30k import DataError, SentencePair
from captions.settings import CHOICES, FIXED, Settings
from captions.vocabulary import Vocabulary, split
from sequences.run import Run, read_json, write_json
from sequences.settings import add_options, chosen, number, resumed
from sequences.symbols import UnknownSymbol

if TYPE_CHECKING:
    from captions.translator import Translator

NEEDED = ("keras_attention", "matplotlib", "sacrebleu")
DEFAULT_FOLDER = Path("runs/translate")
DEFAULT_DATA = Path("data/multi30k")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    for module in NEEDED:
        common.require(module, "examples")
    try:
        if options.translate:
            translate(options)
        else:
            learn(options)
    except (DataError, UnknownSymbol) as error:
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
        "--data",
        type=Path,
        default=DEFAULT_DATA,
        metavar="FOLDER",
        help="where the files *.lc.norm.tok.* are, .gz or not "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--download",
        action="store_true",
        help="fetch into that folder what it lacks: 4 MB",
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
        "--translate", nargs="+", metavar="SENTENCE", help="use the trained run"
    )
    parser.add_argument(
        "--test-pairs",
        type=number(int, "test_pairs"),
        metavar="N",
        help="at most N (default: all)",
    )
    parser.add_argument(
        "--beam",
        type=number(int, "beam"),
        default=5,
        metavar="WIDTH",
        help="follow so many hypotheses when it translates "
        "(default: %(default)s; 1 is greedy)",
    )
    add_options(parser, Settings, CHOICES)
    return parser


def translate(options: argparse.Namespace) -> None:
    """Prints the sentences in English."""
    run = trained(options.run)
    sentences = [split(sentence) for sentence in options.translate]
    translations = load(run, options.beam)(sentences)
    for words in sentences:
        english = translations[words].english
        print(f"{' '.join(words)}\t{' '.join(english)}")


def trained(folder: Path) -> Run:
    """The run in the folder; ends the program if there is none."""
    run = Run(folder)
    if not run.model.exists():
        common.fail(
            f"no trained run in {folder}; "
            f"train one: python examples/translate.py --run {folder}"
        )
    return run


def learn(options: argparse.Namespace) -> None:
    """Trains a run, or more of it, and shows what came of it."""
    started = time.monotonic()
    pairs = corpus(options)
    run = Run(common.writable_folder(options.run))
    settings = begin(options, run, pairs["train"])
    fit(run, settings, pairs)
    translator = load(run, options.beam)
    tested = pairs["test"][: options.test_pairs]

    from captions.report import report  # Now TensorFlow has been silenced.

    result = report(run, translator, tested, settings.attention)
    seconds = time.monotonic() - started
    write_json(run.results, {**result, "seconds": round(seconds, 1)})
    print_next(run, settings, seconds)


def corpus(options: argparse.Namespace) -> dict[str, list[SentencePair]]:
    """The pairs of each split, fetched first if that is asked."""
    if options.download:
        print(multi30k.LICENCE)
        multi30k.download(common.writable_folder(options.data))
    return {
        split: multi30k.read(options.data, split) for split in multi30k.SPLITS
    }


def begin(
    options: argparse.Namespace, run: Run, pairs: Sequence[SentencePair]
) -> Settings:
    """The settings of a new run, or of the one that is resumed."""
    if options.resume:
        before = Settings(**read_json(trained(run.folder).settings))
        settings = resumed(options, before, FIXED)
    else:
        settings = chosen(options, Settings())
        run.clear()
        vocabulary = Vocabulary.of(pairs[: settings.train_pairs])
        write_json(run.vocabulary, vocabulary.names())
    write_json(run.settings, dataclasses.asdict(settings))
    return settings


def fit(
    run: Run, settings: Settings, pairs: dict[str, list[SentencePair]]
) -> None:
    common.silence_tensorflow()
    from captions.network import LENGTHS, new_model
    from sequences.learning import learn_pairs

    vocabulary = Vocabulary.of_names(read_json(run.vocabulary))
    learned = vocabulary.pairs(pairs["train"][: settings.train_pairs])
    print(
        f"{settings.attention} attention, {len(learned):,} training pairs, "
        f"{len(vocabulary.german):,} German and {len(vocabulary.english):,} "
        "English words"
    )
    learn_pairs(
        run,
        settings,
        lambda: new_model(settings, vocabulary),
        learned,
        vocabulary.pairs(pairs["dev"]),
        LENGTHS,
    )


def load(run: Run, beam: int) -> "Translator":
    """The best weights of a run, ready to translate."""
    common.silence_tensorflow()
    import keras
    from captions.translator import Translator

    import keras_attention  # noqa: F401 - registers the layers of the model

    model = keras.models.load_model(run.model, compile=False)
    vocabulary = Vocabulary.of_names(read_json(run.vocabulary))
    return Translator(model, vocabulary, beam)


def print_next(run: Run, settings: Settings, seconds: float) -> None:
    script = "python examples/translate.py"
    where = "" if run.folder == DEFAULT_FOLDER else f" --run {run.folder}"
    print(
        f"""
{run.folder} holds, after {seconds / 60:.1f} min:
  {run.picture.name:16} English x German words
  {run.model.name:16} for keras.models.load_model
  {run.saved_model.name:16} for tf.saved_model.load
Next:
  {script}{where} --translate "Ein Hund rennt durch den Schnee."
  {script}{where} --resume --epochs {2 * settings.epochs}
  {script} --attention luong --run runs/luong
  python {run.decode_script} "ein hund rennt durch den schnee .\""""
    )


if __name__ == "__main__":
    main()
