"""Inputs of the worked examples, made without a random generator."""

import numpy as np

#: The worked values are printed with six decimals.
TOLERANCE = {"rtol": 1e-5, "atol": 1e-6}


def det(shape, phase=0.0, scale=0.5):
    """`scale * sin(phase + 1.7 k)`, k counting the entries row by row."""
    k = np.arange(np.prod(shape, dtype=int))
    return (scale * np.sin(phase + 1.7 * k)).reshape(shape).astype("float32")


def batch(x):
    """One example as a batch of one."""
    return np.asarray(x, "float32")[None]


def assign(layer, **values):
    """Sets the weights that the layer keeps under these attributes."""
    for name, value in values.items():
        getattr(layer, name).assign(np.asarray(value, "float32"))


def assert_worked(actual, expected):
    """Equal to a worked value, to the digits it is printed with."""
    np.testing.assert_allclose(
        np.asarray(actual), np.asarray(expected), **TOLERANCE
    )
