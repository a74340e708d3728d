"""What both sides are given, the same in any process."""

import numpy as np

TOKENS, STEPS, DIM, UNITS = 7, 5, 4, 3

#: Tokens; 0 is padding. The last sequence is nothing else.
IDS = np.array([[1, 2, 3, 4, 5], [6, 3, 1, 0, 0], [0, 0, 0, 0, 0]])
IS_REAL = IDS > 0

#: Which package has a model's layer, if any.
PACKAGES = {
    "luong": "attention",
    "bahdanau": "attention",
    "additive": "keras_self_attention",
    "additive_without_biases": "keras_self_attention",
    "additive_with_sigmoid": "keras_self_attention",
    "multiplicative": "keras_self_attention",
    "multiplicative_with_sigmoid": "keras_self_attention",
    "window": "keras_self_attention",
    "history": "keras_self_attention",
    "history_window": "keras_self_attention",
    "weighted": "keras_self_attention",
    "kaggle": None,
    "kaggle_without_bias": None,
    "column": None,
    "average": None,
    "context": None,
    "context_without_bias": None,
}

#: How a model is saved. Keras 3 writes weights alone in the third way only.
ENDINGS = {
    "keras_2": ("model.h5", "weights-alone.h5", ".weights.h5", ".keras"),
    "keras_3": ("model.h5", ".weights.h5", ".keras"),
}


def embedding():
    """Padding has an embedding like any token's."""
    return _normal(1)(TOKENS, DIM)


def x():
    """The embedded tokens."""
    return embedding()[IDS]


def weights(shapes):
    """Weights of these shapes; biases too are not 0."""
    normal = _normal(2)
    return [normal(*shape) for shape in shapes]


def names(version):
    """The models that a version of Keras can hold.

    On Keras 3, `attention` does not train, and its weights are not saved.
    """
    left_out = {"keras_2": (), "keras_3": ("attention",)}[version]
    return [name for name, x in PACKAGES.items() if x not in left_out]


def _normal(seed):
    random = np.random.default_rng(seed)
    return lambda *shape: random.normal(size=shape).astype("float32")
