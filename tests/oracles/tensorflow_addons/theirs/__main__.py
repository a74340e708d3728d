"""Writes what tensorflow-addons finds: `python -m ...theirs <folder>`."""

import pathlib
import sys

import numpy as np

from tests.oracles.tensorflow_addons.theirs import (
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
    """A file of arrays for each kind."""
    tfa = legacy.tensorflow_addons()
    for name, run in RUNS.items():
        np.savez(pathlib.Path(folder, f"{name}.npz"), **run(tfa))


if __name__ == "__main__":
    main(*sys.argv[1:])
