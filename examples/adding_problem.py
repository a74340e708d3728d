"""Adding and multiplying over a distance, without recurrence.

Raffel & Ellis (2015), Table 1: two marked numbers stand somewhere in the
first half of a long noisy sequence, and their sum or product is wanted. A
feed-forward network reads every step by itself; all that it knows of the
sequence is either an attention-weighted mean of its steps or their plain mean.

    python examples/adding_problem.py
    python examples/adding_problem.py --lengths 50 100 500 1000

The figures of the table come from a program that pads the sequences with
zeros and lets the zeros into the mean; so do ours. `--padding masked` leaves
them out, which is harder: the same two numbers then weigh less in a longer
sequence, and the network has to allow for it.

Reference:
    [Raffel & Ellis, 2015](https://arxiv.org/abs/1512.08756), section 2.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import fail, silence_tensorflow, writable_folder

if TYPE_CHECKING:
    import keras
    import numpy as np

TASKS = ("add", "multiply")
POOLINGS = ("attention", "mean")
PADDINGS = ("seen", "masked")
BATCH_SIZE = 100
UPDATES_PER_EPOCH = 1000
TEST_CASES = 1000
HIDDEN_SIZE = 100
NEGATIVE_SLOPE = 0.01
LARGEST_ERROR = 0.04

# Table 1: epochs of 1000 updates until every test case is right, at the best
# of four learning rates; or the accuracy that was reached.
PAPER_LENGTHS = (50, 100, 500, 1000, 5000, 10000)
PAPER = {
    ("add", "attention"): ("1", "1", "1", "1", "2", "3"),
    ("add", "mean"): ("1", "1", "1", "2", "8", "17"),
    ("multiply", "attention"): ("1", "2", "4", "2", "15", "6"),
    ("multiply", "mean"): ("2", "2", "8", "33", "89.8 %", "80.8 %"),
}


@dataclass
class Result:
    """One line of the table."""

    task: str
    length: int
    pooling: str
    rate: float
    updates: int
    accuracy: float
    seconds: float

    @property
    def outcome(self) -> str:
        """As the paper prints it: the epochs, or how far they led."""
        epochs = f"{self.updates / UPDATES_PER_EPOCH:g}"
        if self.accuracy == 1.0:
            return epochs
        return f"{100 * self.accuracy:.1f} % after {epochs}"

    @property
    def paper(self) -> str:
        figures = PAPER[self.task, self.pooling]
        return dict(zip(PAPER_LENGTHS, figures, strict=True)).get(
            self.length, "-"
        )


def longest_length(shortest: int) -> int:
    """The padded length: a tenth more than the shortest sequence."""
    return -(-11 * shortest // 10)


def sequences(
    task: str, shortest: int, count: int, generator: "np.random.Generator"
) -> tuple["np.ndarray", "np.ndarray"]:
    """Draws sequences as the authors' generator does.

    The first feature is noise, in [-1, 1] for addition and in [0, 1] for
    multiplication. The second is 1 at two steps, one among steps 1 to 9 and
    the other anywhere in the first half; -1 at the first and the last step;
    and 0 elsewhere. The lengths vary; padding is 0 in both.

    Returns:
        Sequences `(count, longest_length(shortest), 2)`, targets `(count, 1)`.
    """
    import numpy as np

    steps = longest_length(shortest)
    lengths = generator.integers(shortest, steps, count)
    low = -1.0 if task == "add" else 0.0
    noise = generator.uniform(low, 1.0, (count, steps))
    noise[np.arange(steps) >= lengths[:, np.newaxis]] = 0.0
    first = generator.integers(1, 10, count)
    second = generator.integers(1, lengths // 2 - 2)
    second += second >= first
    rows = np.arange(count)
    markers = np.zeros((count, steps))
    markers[:, 0] = -1.0
    markers[rows, lengths - 1] = -1.0
    markers[rows, first] = 1.0
    markers[rows, second] = 1.0
    one, other = noise[rows, first], noise[rows, second]
    targets = 0.5 + (one + other) / 4 if task == "add" else one * other
    inputs = np.stack([noise, markers], axis=-1)
    return inputs.astype("float32"), targets.astype("float32")[:, np.newaxis]


def batches(
    task: str, shortest: int, seed: int
) -> Iterator[tuple["np.ndarray", "np.ndarray"]]:
    """Yields fresh training batches without end."""
    import numpy as np

    generator = np.random.default_rng([seed, 0])
    while True:
        yield sequences(task, shortest, BATCH_SIZE, generator)


def held_out_cases(
    task: str, shortest: int, seed: int
) -> tuple["np.ndarray", "np.ndarray"]:
    """Draws the test set, which no training batch shares."""
    import numpy as np

    generator = np.random.default_rng([seed, 1])
    return sequences(task, shortest, TEST_CASES, generator)


def build_model(pooling: str, padding: str = "seen") -> "keras.Model":
    """The paper's network: one step at a time, pooled, then two layers.

        h_t = lrelu(W_xh x_t + b_xh)
        c   = sum_t a_t h_t, or the mean of h_t
        y   = lrelu(W_sy lrelu(W_cs c + b_cs) + b_sy)

    "seen" padding is weighed like any step, as in the authors' program.
    "masked", it is left out: c then varies with the length of the sequence.

    Returns:
        A model from `(batch, time, 2)` to `(batch, 1)`.
    """
    import keras

    import keras_attention as ka

    pool = {
        "attention": ka.FeedForwardAttention,
        "mean": keras.layers.GlobalAveragePooling1D,
    }[pooling]
    inputs = keras.Input((None, 2), name="sequence")
    x = keras.layers.Masking()(inputs) if padding == "masked" else inputs
    x = _leaky_dense(x, HIDDEN_SIZE)
    x = pool(name=pooling)(x)
    x = _leaky_dense(x, HIDDEN_SIZE)
    return keras.Model(inputs, _leaky_dense(x, 1), name=f"{pooling}_model")


def _leaky_dense(x: "keras.KerasTensor", units: int) -> "keras.KerasTensor":
    import keras

    normal = keras.initializers.VarianceScaling(
        scale=1.0, mode="fan_in", distribution="untruncated_normal"
    )
    x = keras.layers.Dense(units, kernel_initializer=normal)(x)
    return keras.layers.LeakyReLU(NEGATIVE_SLOPE)(x)


def solved(
    targets: "keras.KerasTensor", predictions: "keras.KerasTensor"
) -> "keras.KerasTensor":
    """1 for every case whose error is small enough to count as right."""
    from keras import ops

    errors = ops.abs(ops.subtract(targets, predictions))
    return ops.cast(errors < LARGEST_ERROR, "float32")


def train(
    task: str,
    length: int,
    pooling: str,
    rate: float,
    max_epochs: int,
    updates_per_epoch: int,
    padding: str,
    seed: int,
) -> tuple["keras.Model", Result]:
    """Trains until every test case is right, or for `max_epochs`."""
    import keras

    keras.utils.set_random_seed(seed)
    model = build_model(pooling, padding)
    model.compile(
        keras.optimizers.Adam(rate),
        loss="mean_squared_error",
        metrics=[keras.metrics.MeanMetricWrapper(solved, name="solved")],
    )

    def stop_when_solved(epoch: int, logs: dict[str, float]) -> None:
        if logs["val_solved"] == 1.0:
            model.stop_training = True

    print(f"\n{task}, T0 = {length}, {pooling}, rate {rate:g}", flush=True)
    start = time.perf_counter()
    history = model.fit(
        batches(task, length, seed),
        steps_per_epoch=updates_per_epoch,
        epochs=max_epochs,
        shuffle=False,
        validation_data=held_out_cases(task, length, seed),
        validation_batch_size=BATCH_SIZE,
        callbacks=[
            keras.callbacks.LambdaCallback(on_epoch_end=stop_when_solved),
            keras.callbacks.TerminateOnNaN(),
        ],
        verbose=1 if sys.stdout.isatty() else 2,
    )
    accuracies = history.history.get("val_solved", [0.0])
    return model, Result(
        task,
        length,
        pooling,
        rate,
        updates=updates_per_epoch * len(accuracies),
        accuracy=max(accuracies),
        seconds=time.perf_counter() - start,
    )


def train_at_best_rate(
    task: str,
    length: int,
    pooling: str,
    rates: Sequence[float],
    max_epochs: int,
    **settings: Any,
) -> tuple["keras.Model", Result]:
    """Trains at each rate; as in the paper, the best one counts.

    That is the one with the fewest updates or, where none was enough, the
    highest accuracy. A rate is given up when it can no longer be the best.
    """
    runs = []
    for rate in rates:
        run = train(task, length, pooling, rate, max_epochs, **settings)
        runs.append(run)
        _, result = run
        if result.accuracy == 1.0:
            max_epochs = result.updates // settings["updates_per_epoch"] - 1
        if not max_epochs:
            break

    def rank(run: tuple["keras.Model", Result]) -> tuple[float, int]:
        _, result = run
        return -result.accuracy, result.updates

    return min(runs, key=rank)


def print_table(results: Sequence[Result]) -> None:
    """Prints the results beside the paper's."""
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title="Epochs of 1000 updates until all test cases are right",
        caption="The paper took the best of the rates .0003 .001 .003 .01",
    )
    for column in ("task", "T0", "pooling", "rate", "epochs", "s", "paper"):
        is_text = column in {"task", "pooling"}
        table.add_column(column, justify="left" if is_text else "right")
    for result in results:
        table.add_row(
            result.task,
            str(result.length),
            result.pooling,
            f"{result.rate:g}",
            result.outcome,
            f"{result.seconds:.0f}",
            result.paper,
        )
    Console(width=None if sys.stdout.isatty() else 80).print(table)


def save_model(model: "keras.Model", path: Path) -> None:
    """Saves the network without its metric, which is this file's own."""
    import keras

    keras.Model(model.inputs, model.outputs, name=model.name).save(path)


def save_table(results: Sequence[Result], path: Path) -> None:
    """Writes the results as a CSV file."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(results[0])))
        writer.writeheader()
        writer.writerows(asdict(result) for result in results)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Raffel & Ellis' addition and multiplication: attention "
        "against the plain mean, beside the paper's Table 1.",
        epilog="On two CPU cores the defaults take about a minute; "
        "--lengths 50 100 500 1000 --max-epochs 40 up to an hour, most of "
        "it for the mean at multiplying with T0 = 1000.",
    )
    add = parser.add_argument
    add("--task", choices=(*TASKS, "both"), default="both")
    add("--pooling", choices=(*POOLINGS, "both"), default="both")
    add(
        "--lengths",
        type=int,
        nargs="+",
        default=[50, 100],
        metavar="T0",
        help="shortest sequences, at least 20 (default: 50 100); the longest "
        "are a tenth longer",
    )
    add(
        "--rate",
        type=float,
        nargs="+",
        default=[0.01, 0.003],
        help="learning rates of Adam, of which the best counts (default: .01 "
        ".003); the paper tried .01 .003 .001 .0003",
    )
    add(
        "--max-epochs",
        type=int,
        default=10,
        help="give up after so many times 1000 updates (default: 10)",
    )
    add(
        "--padding",
        choices=PADDINGS,
        default="seen",
        help="whether the pooling takes in the zeros behind a sequence "
        "(default: seen, as in the paper)",
    )
    add("--seed", type=int, default=0)
    add("--output", metavar="FOLDER", help="models and table.csv go here")
    add(
        "--quick",
        action="store_true",
        help="one epoch of 100 updates at most: does everything run?",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_arguments(arguments)
    if min(options.lengths) < 20:
        fail(f"--lengths must be at least 20, received {min(options.lengths)}")
    if options.max_epochs < 1:
        fail(f"--max-epochs must be positive, received {options.max_epochs}")
    folder = writable_folder(options.output) if options.output else None
    silence_tensorflow()
    tasks = TASKS if options.task == "both" else (options.task,)
    poolings = POOLINGS if options.pooling == "both" else (options.pooling,)
    results = []
    for task, length, pooling in product(tasks, options.lengths, poolings):
        model, result = train_at_best_rate(
            task,
            length,
            pooling,
            options.rate,
            max_epochs=1 if options.quick else options.max_epochs,
            updates_per_epoch=100 if options.quick else UPDATES_PER_EPOCH,
            padding=options.padding,
            seed=options.seed,
        )
        results.append(result)
        if folder:
            save_model(model, folder / f"{task}_{length}_{pooling}.keras")
            save_table(results, folder / "table.csv")
    print_table(results)


if __name__ == "__main__":
    main()
