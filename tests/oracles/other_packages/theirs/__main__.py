"""Writes models and what they find.

python -m ...theirs <folder> <version of Keras> <name of a model>...
"""

import pathlib
import sys

import numpy as np
from tensorflow import keras

from tests.oracles.other_packages import inputs
from tests.oracles.other_packages.theirs.models import layer


def main(folder, version, *names):
    """For each name, its files, and its outputs with and without a mask."""
    for name in names:
        path = pathlib.Path(folder) / name
        path.mkdir()
        model, attention = _model(name)
        for ending in inputs.ENDINGS[version]:
            is_whole = ending in ("model.h5", ".keras")
            save = model.save if is_whole else model.save_weights
            save(str(path / f"saved{ending}"))
        np.savez(
            path / "found.npz",
            implicit=model(inputs.IDS),
            without=attention(inputs.x()),
        )


def _model(name):
    """The layer behind an embedding, which knows what is padding."""
    ids = keras.Input((inputs.STEPS,))
    embed = keras.layers.Embedding(inputs.TOKENS, inputs.DIM, mask_zero=True)
    attention = layer(name)
    model = keras.Model(ids, attention(embed(ids)))
    model(inputs.IDS)
    embed.set_weights([inputs.embedding()])
    shapes = [weight.shape for weight in attention.weights]
    attention.set_weights(inputs.weights(shapes))
    return model, attention


if __name__ == "__main__":
    main(*sys.argv[1:])
