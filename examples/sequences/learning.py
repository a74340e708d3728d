"""A new model learns pairs, or a kept one goes on."""

from collections.abc import Callable, Sequence
from typing import Protocol

import common
import keras

import keras_attention  # noqa: F401 - registers the layers of a saved model
from sequences import training
from sequences.batches import Batches, Lengths, Pair
from sequences.run import Run

DEV_BATCH_SIZE = 256


class Settings(Protocol):
    """What this reads of an example's settings."""

    epochs: int
    minutes: float
    batch_size: int
    learning_rate: float
    seed: int


def learn_pairs(
    run: Run,
    settings: Settings,
    new_model: Callable[[], keras.Model],
    pairs: Sequence[Pair],
    dev_pairs: Sequence[Pair],
    lengths: Lengths,
) -> None:
    """Goes on where a training was left, or begins one.

    Ends the program if there are no weights to be run.
    """
    if run.latest.exists():
        model = keras.models.load_model(run.latest)
    else:
        model = new_model()
    done = int(model.optimizer.iterations.numpy())
    training.train(
        model,
        training.Schedule(
            settings.epochs, settings.minutes, settings.learning_rate
        ),
        run,
        Batches(pairs, settings.batch_size, lengths, settings.seed + done),
        # Of one length, so that each pair counts the same in the dev loss.
        Batches(dev_pairs, DEV_BATCH_SIZE, lengths[-1:]),
    )
    if not run.model.exists():
        common.fail("the loss became NaN; try a lower --learning-rate")
