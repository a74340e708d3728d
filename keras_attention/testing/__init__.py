"""The conformance kit: what every layer of the package promises, as checks.

    check_layer(lambda: MyAttention(units=4))

Each check fails with what was promised, what was seen and the smallest input
that shows it. The checks run with every warning turned into an error. Those
about SavedModel, ONNX and LiteRT files are for the TensorFlow backend.
"""

# The promises, in the order in which they are checked.
from keras_attention.testing import (
    arguments,
    exports,
    masking,
    numerics,
    saving,
    shapes,
    training,
)
from keras_attention.testing.check_layer import check_layer
from keras_attention.testing.checks import CHECKS, Check
from keras_attention.testing.fresh_process import Shelf
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import NotPromised, Violation

__all__ = [
    "CHECKS",
    "Check",
    "NotPromised",
    "Shelf",
    "Sizes",
    "Subject",
    "Violation",
    "arguments",
    "check_layer",
    "exports",
    "masking",
    "numerics",
    "saving",
    "shapes",
    "training",
]
