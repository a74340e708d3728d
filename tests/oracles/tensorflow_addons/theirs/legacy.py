"""Imports tensorflow-addons, which wants Keras 2 and an older NumPy."""

import sys

import numpy as np


def tensorflow_addons():
    """The package."""
    import tf_keras  # noqa: F401  Brings the modules that take Keras's place.

    np.Inf = np.inf  # NumPy 2 dropped the name.
    for name in list(sys.modules):
        if name == "tf_keras" or name.startswith("tf_keras."):
            alias = "keras" + name.removeprefix("tf_keras")
            sys.modules[alias] = sys.modules[name]
    import tensorflow_addons

    tensorflow_addons.options.disable_custom_kernel()  # Of an older build.
    return tensorflow_addons
