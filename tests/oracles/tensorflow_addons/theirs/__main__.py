"""Writes what tensorflow-addons finds: `python -m ...theirs <folder>`."""

import pathlib
import sys

import numpy as np

from tests.oracles.tensorflow_addons.theirs import (
    checkpoints,
    decoders,
    legacy,
    mechanisms,
    monotonic,
    wrapper,
)

RUNS = {
    "attention": mechanisms.run,
    "monotonic": monotonic.run,
    "wrapper": wrapper.run,
    "decoders": decoders.run,
}


def main(folder):
    """A file of arrays for each kind, and checkpoints."""
    folder = pathlib.Path(folder)
    tfa = legacy.tensorflow_addons()
    for name, run in RUNS.items():
        np.savez(folder / f"{name}.npz", **run(tfa))
    trained = checkpoints.run(tfa, folder)
    np.savez(folder / "trained.npz", **trained)


if __name__ == "__main__":
    main(*sys.argv[1:])
