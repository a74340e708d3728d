"""Fit: the learning rate, Ctrl-C, the best and the latest state."""

import contextlib
import csv
import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import keras

from pronouncing.batches import LENGTHS, Batches, Pair
from pronouncing.dictionary import Vocabulary
from pronouncing.network import training_model
from pronouncing.run import Run, Settings


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
    """After every epoch: the latest state, and the best on the dev words.

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


def new_model(settings: Settings, vocabulary: Vocabulary) -> keras.Model:
    keras.utils.set_random_seed(settings.seed)
    model = training_model(settings, vocabulary)
    model.compile(
        keras.optimizers.Adam(settings.learning_rate, clipnorm=1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["accuracy"],
    )
    return model


def train(
    model: keras.Model,
    settings: Settings,
    run: Run,
    train_pairs: list[Pair],
    dev_pairs: list[Pair],
) -> None:
    """Fits a new or a reloaded model up to `settings.epochs`."""
    done = int(model.optimizer.iterations.numpy())
    batches = Batches(train_pairs, settings.batch_size, settings.seed + done)
    steps = len(batches)
    if done >= steps * settings.epochs:
        print(f"Already trained for {settings.epochs} epochs: ask for more.")
        return
    # In one bucket, so that each word counts the same in the dev loss.
    dev = Batches(dev_pairs, 256, lengths=LENGTHS[-1:])
    with stopped_by_ctrl_c(model):
        model.fit(
            batches.dataset(),
            shuffle=False,  # It shuffles itself.
            epochs=settings.epochs,
            initial_epoch=done // steps,
            validation_data=dev.dataset(),
            callbacks=[
                Cosine(
                    settings.learning_rate,
                    steps * settings.epochs,
                    settings.minutes,
                ),
                KeepStates(run),
                keras.callbacks.CSVLogger(run.history, append=done > 0),
            ],
        )
