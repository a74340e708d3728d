"""Fit: the learning rate, Ctrl-C, the best and the latest state."""

import contextlib
import csv
import dataclasses
import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import keras

from sequences.batches import Batches
from sequences.run import Run
from sequences.symbols import PADDING


class Cosine(keras.callbacks.Callback):
    """Lets the learning rate fall to 0 by the last step or minute.

    Whichever comes first ends the training, so that a slow machine gets a
    shorter training rather than one that breaks off.
    """

    def __init__(self, peak: float, steps: int, minutes: float) -> None:
        super().__init__()
        self.peak = peak
        self.steps = steps
        self.seconds = 60 * minutes

    def on_train_begin(self, logs=None) -> None:
        self.started = time.monotonic()
        self.steps_done = int(self.model.optimizer.iterations.numpy())

    def on_train_batch_begin(self, batch, logs=None) -> None:
        rate = self.peak * (1 + math.cos(math.pi * self._progress())) / 2
        self.model.optimizer.learning_rate.assign(rate)
        self.steps_done += 1

    def on_train_batch_end(self, batch, logs=None) -> None:
        if self._progress() >= 1:
            self.model.stop_training = True

    def _progress(self) -> float:
        elapsed = time.monotonic() - self.started
        return min(1, max(self.steps_done / self.steps, elapsed / self.seconds))


class KeepStates(keras.callbacks.Callback):
    """After every epoch: the latest state, and the best on the dev pairs.

    Files are replaced whole: a run that is killed leaves no half file.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self.best = best_loss(run.history)

    def on_epoch_end(self, epoch, logs=None) -> None:
        self._write(self.run.latest)
        if logs["val_loss"] < self.best:
            self.best = logs["val_loss"]
            self._write(self.run.model)

    def _write(self, path: Path) -> None:
        part = path.with_name(f"part-{path.name}")
        self.model.save(part)
        os.replace(part, path)


def best_loss(history: Path) -> float:
    """The lowest dev loss of the epochs so far."""
    if not history.exists():
        return math.inf
    with history.open(newline="") as file:
        losses = [float(row["val_loss"]) for row in csv.DictReader(file)]
    return min(losses, default=math.inf)


@contextlib.contextmanager
def stopped_by_ctrl_c(model: keras.Model) -> Iterator[None]:
    """The first Ctrl-C ends the training in good order, the next at once."""

    def stop(number, frame) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print(
            "\nStopping after this batch, keeping the best weights so far "
            "(Ctrl-C again quits at once)."
        )
        model.stop_training = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def compiled(
    model: keras.Model, learning_rate: float, label_smoothing: float = 0.0
) -> keras.Model:
    """The model with loss, accuracy and optimizer; padding counts nowhere."""
    import keras_attention as ka

    model.compile(
        keras.optimizers.Adam(learning_rate, clipnorm=1.0),
        ka.TokenCrossentropy(label_smoothing, ignore_class=PADDING),
        metrics=[ka.TokenAccuracy(ignore_class=PADDING, name="accuracy")],
    )
    return model


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How long, at most, and from which learning rate down to 0."""

    epochs: int
    minutes: float
    learning_rate: float


def train(
    model: keras.Model,
    schedule: Schedule,
    run: Run,
    pairs: Batches,
    dev_pairs: Batches,
) -> None:
    """Fits a new or a reloaded model up to the schedule's epochs."""
    done = int(model.optimizer.iterations.numpy())
    steps = len(pairs)
    if done >= steps * schedule.epochs:
        print(f"Already trained for {schedule.epochs} epochs: ask for more.")
        return
    with stopped_by_ctrl_c(model):
        model.fit(
            pairs.dataset(),
            shuffle=False,  # They shuffle themselves.
            epochs=schedule.epochs,
            initial_epoch=done // steps,
            validation_data=dev_pairs.dataset(),
            callbacks=[
                Cosine(
                    schedule.learning_rate,
                    steps * schedule.epochs,
                    schedule.minutes,
                ),
                KeepStates(run),
                keras.callbacks.CSVLogger(run.history, append=done > 0),
            ],
        )
