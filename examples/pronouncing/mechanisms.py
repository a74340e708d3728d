"""The attention mechanisms that `--attention` chooses from."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import keras

# Letters on either side that the local mechanisms see.
RADIUS = 3

# From the package and the number of features of queries and values.
MECHANISMS = {
    "luong": lambda ka, units: ka.LuongAttention("general"),
    "dot": lambda ka, units: ka.LuongAttention("dot"),
    "scaled-dot": lambda ka, units: ka.Attention("scaled_dot"),
    "concat": lambda ka, units: ka.LuongAttention("concat"),
    "bahdanau": lambda ka, units: ka.BahdanauAttention(units),
    "bahdanau-normalized": lambda ka, units: ka.BahdanauAttention(
        units, normalize=True
    ),
    "cosine": lambda ka, units: ka.Attention(
        ka.CosineScore(scale=5.0, learn_scale=True)
    ),
    "sparsemax": lambda ka, units: ka.Attention("bilinear", "sparsemax"),
    "local-m": lambda ka, units: ka.LocalMonotonicAttention(RADIUS),
    "local-p": lambda ka, units: ka.LocalPredictiveAttention(RADIUS),
    "monotonic": lambda ka, units: ka.MonotonicAttention("additive"),
    "forward": lambda ka, units: ka.ForwardAttention("additive"),
    "coverage": lambda ka, units: ka.CoverageAttention(units),
    "multi-head": lambda ka, units: ka.MultiHeadAttention(4, units // 4),
}


def build(name: str, units: int) -> "keras.Layer":
    import keras_attention as ka

    return MECHANISMS[name](ka, units)
