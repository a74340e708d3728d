"""What came of a training: BLEU, samples, picture, SavedModel."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sequences import alignments, saved_model
from sequences.run import Run

from captions import scoring
from captions.multi30k import SPLITS, SentencePair, Words
from captions.translator import Translation, Translator

SHOWN, DRAWN, COMPARED = 6, 4, 100
DECODE_SCRIPT = Path(__file__).with_name("decode_saved_model.py")

# Rounding may choose between hypotheses that are all but equally good.
SAME_AT_LEAST = 0.98

Translations = Mapping[Words, Translation]


def report(
    run: Run,
    translator: Translator,
    pairs: Sequence[SentencePair],
    attention: str,
) -> dict[str, Any]:
    """Prints it, fills the folder, and returns the figures."""
    translations = translator([pair.german for pair in pairs])
    figures = print_figures(translator, translations, pairs)
    samples = telling(pairs)
    for pair in samples[:SHOWN]:
        print_sample(pair, translations[pair.german].english)
    draw(run, attention, samples[:DRAWN], translations)
    check_export(run, translator, samples[:COMPARED], translations)
    return {"attention": attention, **translator.search, **figures}


def print_figures(
    translator: Translator,
    translations: Translations,
    pairs: Sequence[SentencePair],
) -> dict[str, Any]:
    english = [translations[pair.german].english for pair in pairs]
    bleu = scoring.bleu(english, pairs)
    unknown = scoring.unknown(translator.vocabulary, pairs)
    print(f"\n{len(pairs):,} sentences of {SPLITS['test']}:")
    print(f"BLEU {bleu.score:.2f} on lower-case tokens, {bleu.signature}")
    print(f"{unknown}\n")
    return {
        "sentences": len(pairs),
        "bleu": bleu.score,
        "signature": bleu.signature,
        "unknown": dataclasses.asdict(unknown),
    }


def telling(pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """Those of 8 to 12 words first: long enough to see an alignment."""
    return sorted(pairs, key=lambda pair: not 8 <= len(pair.german) <= 12)


def print_sample(pair: SentencePair, english: Words) -> None:
    rows = {"": pair.german, "->": english, "reference": pair.english}
    for name, words in rows.items():
        print(f"  {name:>9} {' '.join(words)}")


def draw(
    run: Run,
    attention: str,
    samples: Sequence[SentencePair],
    translations: Translations,
) -> None:
    alignments.draw(
        [translations[german].alignment(german) for german, _ in samples],
        f"Where each English word attends: {attention}, new sentences",
        run.picture,
        columns=2,
        panel=(6.5, 5.5),
    )


def check_export(
    run: Run,
    translator: Translator,
    samples: Sequence[SentencePair],
    translations: Translations,
) -> None:
    """Ends the program if the SavedModel translates otherwise."""
    saved_model.export(
        translator.model, run, DECODE_SCRIPT, translate=translator.search
    )
    expected = {
        " ".join(german): " ".join(translations[german].english)
        for german, _ in samples
    }
    said = saved_model.answers_without_keras(run, list(expected))
    same = sum(said[german] == expected[german] for german in expected)
    print(
        f"\nA fresh process with TensorFlow alone translates {same} of "
        f"{len(expected)} sentences in the same way."
    )
    if same < SAME_AT_LEAST * len(expected):
        raise SystemExit(1)
