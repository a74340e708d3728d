"""Arrays by name, and the weights that they become."""

from typing import TypeAlias

import keras
import numpy as np

from keras_attention.scores.additive import AdditiveScore

Arrays: TypeAlias = dict[str, np.ndarray]


class Given:
    """The arrays below a name, each to be taken once.

    Args:
        arrays: Of a whole file.
        name: What the names of those to be taken begin with.
    """

    def __init__(self, arrays: Arrays, name: str) -> None:
        self.start = f"{name}/"
        self.arrays = arrays
        self.left = [x for x in arrays if x.startswith(self.start)]

    def __contains__(self, name: str) -> bool:
        return self.start + name in self.left

    def take(self, name: str) -> np.ndarray:
        """One array."""
        if name not in self:
            raise ValueError(
                f"There is no weight {self.start + name!r}. "
                f"Received: {self.left or list(self.arrays)}"
            )
        self.left.remove(self.start + name)
        return self.arrays[self.start + name]

    def take_part(self, *parts: str) -> np.ndarray:
        """The one array with one of these words in its name."""
        for name in self.left:
            rest = name.removeprefix(self.start)
            if set(parts) & set(rest.split("/")):
                return self.take(rest)
        return self.take(parts[0])

    def take_all(self, least: int, most: int) -> list[np.ndarray]:
        """Every array, in order."""
        if not least <= len(self.left) <= most:
            expected = least if least == most else f"{least} to {most}"
            raise ValueError(
                f"There must be {expected} weights below {self.start!r}. "
                f"Received: {self.left or list(self.arrays)}"
            )
        return [self.take(x.removeprefix(self.start)) for x in [*self.left]]

    def check_all_taken(self, layer: keras.Layer) -> None:
        """Nothing may be left: the layer would do something else."""
        if self.left:
            raise ValueError(
                f"{type(layer).__name__} has no place for the weights "
                f"{self.left}."
            )


def check_built(layer: keras.Layer) -> None:
    """Weights are loaded into those that there are."""
    if not layer.built:
        raise ValueError(
            f"{type(layer).__name__} must be built before weights are loaded."
        )


def assign(layer: keras.Layer, weights: Arrays) -> None:
    """Sets the weights that a layer keeps under these attributes."""
    check_built(layer)
    kind = type(layer).__name__
    for name, value in weights.items():
        variable = getattr(layer, name, None)
        if variable is None:
            raise ValueError(
                f"{kind} as it was made has no `{name}`, but the file has one."
            )
        if tuple(variable.shape) != np.shape(value):
            raise ValueError(
                f"`{name}` of {kind} must have the shape "
                f"{tuple(variable.shape)}. "
                f"Received: {np.shape(value)} in the file"
            )
        variable.assign(value)


def of_additive(
    score: AdditiveScore,
    W: np.ndarray,
    U: np.ndarray,
    v: np.ndarray,
    b: np.ndarray | None = None,
) -> Arrays:
    """The weights of a score by name; a `b` that they lack is 0."""
    weights = {"W": W, "U": U, "v": v.reshape(-1, 1)}
    if b is None and score.use_bias:
        b = np.zeros(len(v))
    return weights if b is None else {**weights, "b": b}
