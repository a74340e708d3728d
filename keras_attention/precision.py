"""Sums over many terms are taken in float32, whatever the layer's dtype."""

from typing import Any

import keras
from keras import ops


def widened(x: Any) -> Any:
    """`x` in float32; float64 stays as it is."""
    wide = keras.backend.standardize_dtype(x.dtype) in ("float32", "float64")
    return x if wide else ops.cast(x, "float32")


def wide_floatx() -> str:
    """Keras's default float, in float32 at least: what losses sum in."""
    return "float64" if keras.config.floatx() == "float64" else "float32"
