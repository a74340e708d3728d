"""Sums over many terms are taken in float32, whatever the layer's dtype."""

from typing import Any

import keras
from keras import ops


def widened(x: Any) -> Any:
    """`x` in float32; float64 stays as it is."""
    wide = keras.backend.standardize_dtype(x.dtype) in ("float32", "float64")
    return x if wide else ops.cast(x, "float32")
