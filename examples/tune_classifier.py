"""Which language is this name? A search in which the mechanism is tuned too.

The names of territories, languages, months and days in twenty languages that
share the Latin alphabet, as CLDR spells them and `babel` ships them. A small
network reads the characters; keras-tuner chooses which attention mechanism
turns them into one vector, and that mechanism's own options.

    python examples/tune_classifier.py
    python examples/tune_classifier.py --tuner bayesian --trials 30
    python examples/tune_classifier.py --resume

A concept (a territory, say) is either for training, for validation or for
testing, in all languages at once. Names that two languages share are left out.
"""

import argparse
import json
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from common import fail, require, silence_tensorflow, writable_folder

if TYPE_CHECKING:
    import keras
    import keras_tuner
    import numpy as np

LANGUAGES = (
    *("af", "ca", "cs", "da", "de", "es", "et", "fi", "fr", "gl"),
    *("hr", "it", "nb", "nl", "pl", "pt", "ro", "sk", "sl", "sv"),
)
LONGEST_NAME = 32
BATCH_SIZE = 128
TUNERS = ("random", "bayesian", "hyperband", "grid")
NO_LIMIT = sys.maxsize


# Data -----------------------------------------------------------------------


@dataclass
class Names:
    """Names and the indices of their languages in `LANGUAGES`."""

    texts: list[str]
    languages: "np.ndarray"

    def take(self, part: int) -> "Names":
        """The first `1 / part` of the names, in whole batches.

        A batch of another size would be one more program to compile, in
        every trial.
        """
        count = len(self.texts) // part // BATCH_SIZE * BATCH_SIZE
        return Names(self.texts[:count], self.languages[:count])


def concepts(language: str) -> Iterator[tuple[str, str]]:
    """Yields what is named, such as `territories DE`, and its name."""
    from babel import Locale

    locale = Locale.parse(language)
    groups = {
        "territories": locale.territories,
        "languages": locale.languages,
        "months": locale.months["format"]["wide"],
        "days": locale.days["format"]["wide"],
    }
    for group, names in groups.items():
        for key, name in names.items():
            yield f"{group} {key}", name.lower()


def load_names() -> dict[str, Names]:
    """Returns the names for "train", "validation" and "test"."""
    import numpy as np

    found: dict[str, dict[str, str]] = {}
    for language in LANGUAGES:
        for concept, name in concepts(language):
            found.setdefault(name, {}).setdefault(language, concept)
    rows = [
        (concept, name, LANGUAGES.index(language))
        for name, languages in sorted(found.items())
        if len(languages) == 1
        for language, concept in languages.items()
    ]
    keys = sorted({concept for concept, _, _ in rows})
    generator = np.random.default_rng(0)
    places = dict(zip(keys, generator.random(len(keys)), strict=True))
    parts: dict[str, list[tuple[str, int]]] = {
        "train": [],
        "validation": [],
        "test": [],
    }
    for index in generator.permutation(len(rows)):
        concept, name, language = rows[index]
        parts[_part(places[concept])].append((name, language))
    return {
        part: Names([n for n, _ in pairs], np.array([i for _, i in pairs]))
        for part, pairs in parts.items()
    }


def _part(place: float) -> str:
    if place < 0.6:
        return "train"
    return "validation" if place < 0.8 else "test"


def fit_vectorizer(texts: Sequence[str]) -> "keras.layers.TextVectorization":
    """Learns the alphabet of the training names: 0 padding, 1 unknown."""
    import keras

    vectorizer = keras.layers.TextVectorization(
        standardize="lower",
        split="character",
        output_sequence_length=LONGEST_NAME,
    )
    vectorizer.adapt(list(texts))
    return vectorizer


def to_characters(
    vectorizer: "keras.layers.TextVectorization", names: Names
) -> tuple["np.ndarray", "np.ndarray"]:
    """Returns character indices `(names, LONGEST_NAME)` and languages."""
    from keras import ops

    return ops.convert_to_numpy(vectorizer(names.texts)), names.languages


def majority_accuracy(train: Names, test: Names) -> float:
    """How often the commonest training language is right on the test set."""
    commonest, _ = Counter(train.languages.tolist()).most_common(1)[0]
    return float((test.languages == commonest).mean())


# Search space ---------------------------------------------------------------
#
# Each function below asks for the options of one mechanism, under names that
# begin with the mechanism's, and returns one vector for each sequence
# `(batch, time, features)`.


def mean(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    """No attention: what the others have to beat."""
    import keras

    return keras.layers.GlobalAveragePooling1D()(x)


def feed_forward(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras_attention as ka

    return ka.FeedForwardAttention()(x)


def self_attentive(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras

    import keras_attention as ka

    embed = ka.SelfAttentiveEmbedding(
        hops=hp.Int("self_attentive_hops", 2, 6, step=2),
        units=hp.Choice("self_attentive_units", [16, 32]),
        penalty=hp.Choice("self_attentive_penalty", [0.0, 0.01, 0.1]),
    )
    return keras.layers.Flatten()(embed(x))


def multi_head(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras_attention as ka

    attend = ka.MultiHeadAttention(
        num_heads=hp.Choice("multi_head_heads", [1, 2, 4]),
        key_dim=hp.Choice("multi_head_key_dim", [8, 16]),
    )
    return _pool_residual(hp, "multi_head", x, attend(x, x))


def bahdanau(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras_attention as ka

    attend = ka.BahdanauAttention(
        units=hp.Choice("bahdanau_units", [16, 32]),
        normalize=hp.Boolean("bahdanau_normalize"),
    )
    return _pool_residual(hp, "bahdanau", x, attend(x, x))


def luong(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras_attention as ka

    attend = ka.LuongAttention(
        score=hp.Choice("luong_score", ["dot", "general", "concat"])
    )
    return _pool_residual(hp, "luong", x, attend(x, x))


def squeeze_excitation(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    import keras_attention as ka

    excite = ka.SequenceSqueezeExcitation(
        ratio=hp.Choice("squeeze_excitation_ratio", [2, 4, 8])
    )
    return _pool(hp, "squeeze_excitation", excite(x))


def _pool_residual(
    hp: "keras_tuner.HyperParameters",
    mechanism: str,
    x: "keras.KerasTensor",
    context: "keras.KerasTensor",
) -> "keras.KerasTensor":
    import keras

    # Add keeps the mask, which a bare + would lose.
    return _pool(hp, mechanism, keras.layers.Add()([x, context]))


def _pool(
    hp: "keras_tuner.HyperParameters", mechanism: str, x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    pooling = hp.Choice(f"{mechanism}_pooling", ["mean", "feed_forward"])
    return mean(hp, x) if pooling == "mean" else feed_forward(hp, x)


Mechanism = Callable[
    ["keras_tuner.HyperParameters", "keras.KerasTensor"], "keras.KerasTensor"
]
MECHANISMS: dict[str, Mechanism] = {
    function.__name__: function
    for function in (
        mean,
        feed_forward,
        self_attentive,
        multi_head,
        bahdanau,
        luong,
        squeeze_excitation,
    )
}


def build_model(
    hp: "keras_tuner.HyperParameters", alphabet_size: int
) -> "keras.Model":
    """Returns a functional model: keras-tuner restores no unbuilt ones."""
    import keras

    inputs = keras.Input((None,), dtype="int32", name="characters")
    x = keras.layers.Embedding(
        alphabet_size, hp.Choice("embedding", [16, 32]), mask_zero=True
    )(inputs)
    units = hp.Choice("units", [24, 48])
    x = keras.layers.Bidirectional(
        keras.layers.GRU(units, return_sequences=True)
    )(x)
    x = apply_mechanism(hp, x)
    x = keras.layers.Dropout(hp.Choice("dropout", [0.0, 0.2, 0.4]))(x)
    outputs = keras.layers.Dense(len(LANGUAGES), activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.Adam(hp.Choice("learning_rate", [0.01, 0.003])),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def apply_mechanism(
    hp: "keras_tuner.HyperParameters", x: "keras.KerasTensor"
) -> "keras.KerasTensor":
    """Builds the chosen mechanism; only its own options become active."""
    chosen = hp.Choice("mechanism", list(MECHANISMS))
    for name, mechanism in MECHANISMS.items():
        with hp.conditional_scope("mechanism", [name]):
            if chosen == name:
                pooled = mechanism(hp, x)
    return pooled


# Search ---------------------------------------------------------------------


def make_tuner(
    options: argparse.Namespace, folder: Path, alphabet_size: int
) -> "keras_tuner.Tuner":
    """Returns the tuner; `options.resume` takes up what `folder` holds."""
    import keras_tuner

    tuner_class = {
        "random": keras_tuner.RandomSearch,
        "bayesian": keras_tuner.BayesianOptimization,
        "hyperband": keras_tuner.Hyperband,
        "grid": keras_tuner.GridSearch,
    }[options.tuner]
    extent = (
        {"max_epochs": options.epochs}
        if options.tuner == "hyperband"
        else {"max_trials": options.trials}
    )
    state = SearchState(folder / options.tuner)
    is_resumed = options.resume and state.restore()
    if not is_resumed:
        state.forget()
    return careful(tuner_class, state)(
        partial(build_model, alphabet_size=alphabet_size),
        objective="val_accuracy",
        directory=str(folder),
        project_name=options.tuner,
        overwrite=not is_resumed,
        seed=options.seed,
        # Failed trials are all reported at the end.
        max_consecutive_failed_trials=NO_LIMIT,
        **extent,
    )


class SearchState:
    """What a search knew when its last trial ended, in one file.

    keras-tuner writes the state of a search to several files, in place: one
    that is killed meanwhile leaves half a file, and cannot be resumed.
    """

    def __init__(self, project: Path) -> None:
        self.project = project
        self.file = project.with_name(f"{project.name}_state.json")

    def keep(self) -> None:
        """Keeps keras-tuner's files as they are now, all or none of them."""
        paths = [*self.project.glob("*.json"), *self._trial_files()]
        texts = {
            path.relative_to(self.project).as_posix(): path.read_text()
            for path in paths
        }
        unfinished = self.file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(texts))
        unfinished.replace(self.file)

    def restore(self) -> bool:
        """Puts the kept files back, and removes trials begun since."""
        if not self.file.exists():
            return False
        texts = json.loads(self.file.read_text())
        for path in self._trial_files():
            if path.relative_to(self.project).as_posix() not in texts:
                shutil.rmtree(path.parent)
        for name, text in texts.items():
            (self.project / name).write_text(text)
        return True

    def forget(self) -> None:
        self.file.unlink(missing_ok=True)

    def _trial_files(self) -> list[Path]:
        return list(self.project.glob("trial_*/trial.json"))


def careful(
    tuner_class: type["keras_tuner.Tuner"], state: SearchState
) -> type["keras_tuner.Tuner"]:
    """Lets the tuner keep its state, and print a line, when a trial ends."""

    class Careful(tuner_class):  # type: ignore[misc, valid-type]
        def on_trial_end(self, trial: "keras_tuner.engine.trial.Trial") -> None:
            super().on_trial_end(trial)
            state.keep()
            ended = self.oracle.get_trial(trial.trial_id)
            score = f"{ended.score:.1%}" if ended.score is not None else "-"
            print(
                f"trial {ended.trial_id}  {ended.status:9}  {score:>6}  "
                f"{describe(ended)}",
                flush=True,
            )

    return Careful


def describe(trial: "keras_tuner.engine.trial.Trial") -> str:
    """The mechanism of a trial and the options that belong to it."""
    values = trial.hyperparameters.values
    prefix = f"{values['mechanism']}_"
    options = [
        f"{name.removeprefix(prefix)}={value}"
        for name, value in values.items()
        if name.startswith(prefix)
    ]
    return " ".join([values["mechanism"], *options])


def check_completed(tuner: "keras_tuner.Tuner") -> None:
    """Ends the program with their messages if any trials failed."""
    failed = [
        trial
        for trial in tuner.oracle.trials.values()
        if trial.status != "COMPLETED"
    ]
    if not failed:
        return
    for trial in failed:
        print(f"trial {trial.trial_id}: {trial.status}", file=sys.stderr)
        print(trial.message, file=sys.stderr)
    print(f"{len(failed)} trials were not completed", file=sys.stderr)
    raise SystemExit(1)


def print_trials(tuner: "keras_tuner.Tuner") -> None:
    """Prints all trials, the best first."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Trials by validation accuracy")
    for column in ("trial", "accuracy", "mechanism", "network"):
        table.add_column(column)
    common = ("embedding", "units", "dropout", "learning_rate")
    for trial in tuner.oracle.get_best_trials(len(tuner.oracle.trials)):
        values = trial.hyperparameters.values
        network = " ".join(str(values[name]) for name in common)
        table.add_row(
            trial.trial_id, f"{trial.score:.1%}", describe(trial), network
        )
    table.caption = "network: " + ", ".join(common)
    Console(width=None if sys.stdout.isatty() else 100).print(table)


# The best model -------------------------------------------------------------


def of_strings(
    model: "keras.Model", vectorizer: "keras.layers.TextVectorization"
) -> "keras.Model":
    """Returns the same classifier, but of strings `(batch, 1)`."""
    import keras

    inputs = keras.Input((1,), dtype="string", name="name")
    # Without the optimizer, whose state serves the search alone.
    network = keras.Model(model.inputs, model.outputs)
    return keras.Model(inputs, network(vectorizer(inputs)))


def save_and_reload(model: "keras.Model", path: Path) -> "keras.Model":
    import keras

    model.save(path)
    return keras.models.load_model(path)


def accuracy(
    model: "keras.Model", inputs: "keras.KerasTensor", languages: "np.ndarray"
) -> float:
    """Returns the share of the names whose language is found."""
    predictions = model.predict(inputs, batch_size=BATCH_SIZE, verbose=0)
    return float((predictions.argmax(axis=-1) == languages).mean())


def as_strings(texts: Sequence[str]) -> "keras.KerasTensor":
    """Returns the texts as a tensor of strings `(texts, 1)`."""
    from keras import ops

    strings = ops.convert_to_tensor(list(texts), dtype="string")
    return ops.expand_dims(strings, axis=-1)


def print_accuracies(accuracies: dict[str, float]) -> None:
    print("accuracy on the test names")
    for what, value in accuracies.items():
        print(f"{value:7.1%}  {what}")


# Command line ---------------------------------------------------------------


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Tunes a classifier of names by language; the attention "
        "mechanism is one of the hyperparameters.",
        epilog="The defaults take about three minutes on two CPU cores.",
    )
    add = parser.add_argument
    add("--tuner", choices=TUNERS, default="random")
    add(
        "--trials",
        type=int,
        default=12,
        help="how many models to try (default: 12); hyperband decides itself",
    )
    add(
        "--epochs",
        type=int,
        default=6,
        help="epochs of a trial, for hyperband the most (default: 6)",
    )
    add(
        "--seed",
        type=int,
        # Its first twelve random trials try every mechanism.
        default=27,
        help="positive, since keras-tuner takes 0 for none (default: 27)",
    )
    add(
        "--output",
        metavar="FOLDER",
        default="tuned_classifier",
        help="the search's state and the best model (default: %(default)s)",
    )
    add(
        "--resume",
        action="store_true",
        help="go on with the interrupted search in FOLDER, or with more "
        "--trials; without it a search of the same tuner is overwritten",
    )
    add(
        "--quick",
        action="store_true",
        help="a tenth of the names: does everything run?",
    )
    options = parser.parse_args(arguments)
    for name in ("trials", "epochs", "seed"):
        if getattr(options, name) < 1:
            fail(f"--{name} must be positive")
    return options


def require_extras() -> None:
    for module in ("keras_tuner", "tensorboard", "scipy", "sklearn"):
        require(module, extra="tuner")
    require("babel", extra="examples")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_arguments(arguments)
    require_extras()
    folder = writable_folder(options.output)
    silence_tensorflow()
    # Weights saved by trials come with an optimizer's state, not wanted here.
    warnings.filterwarnings("ignore", "Skipping variable loading")
    try:
        run(options, folder)
    except KeyboardInterrupt:
        print("interrupted; --resume keeps the trials that have ended")
        raise SystemExit(130) from None


def run(options: argparse.Namespace, folder: Path) -> None:
    """Searches; then saves, loads and tests the best model."""
    import keras

    keras.utils.set_random_seed(options.seed)
    names = load_names()
    vectorizer = fit_vectorizer(names["train"].texts)
    share = 10 if options.quick else 1
    names = {part: whole.take(share) for part, whole in names.items()}
    train, validation, test = (
        to_characters(vectorizer, part) for part in names.values()
    )
    tuner = make_tuner(options, folder, vectorizer.vocabulary_size())
    print(
        f"{len(LANGUAGES)} languages; names: {len(train[0])} to train, "
        f"{len(validation[0])} to validate, {len(test[0])} to test"
    )
    tuner.search(
        *train,
        validation_data=validation,
        epochs=options.epochs,
        batch_size=BATCH_SIZE,
        verbose=0,
    )
    check_completed(tuner)
    print_trials(tuner)

    (model,) = tuner.get_best_models(1)
    path = folder / "best_model.keras"
    reloaded = save_and_reload(of_strings(model, vectorizer), path)
    strings = as_strings(names["test"].texts)
    print_accuracies(
        {
            "majority class": majority_accuracy(names["train"], names["test"]),
            "best model": accuracy(model, *test),
            f"{path}, loaded again": accuracy(reloaded, strings, test[1]),
        }
    )


if __name__ == "__main__":
    main()
