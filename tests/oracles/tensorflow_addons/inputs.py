"""What both sides are given: inputs and weights, the same in any process."""

import numpy as np

B, T, S = 3, 4, 5  # examples, steps, places
VALUE, CELL, HIDDEN, UNITS, EMBEDDING, TOKENS = 6, 4, 5, 7, 5, 9
START, END = 1, 2
MAX_LENGTH, WIDTH = 6, 3
LENGTHS = np.array([3, 5, 4], "int32")

MECHANISMS = ("luong", "luong_scaled", "bahdanau", "bahdanau_normalized")

#: A mechanism, our mode of monotonic attention if it is one, and what is fed:
#: the context, or a layer of it and the cell's output.
WRAPPERS = [
    *((name, None, "context") for name in MECHANISMS),
    *((name, None, "linear") for name in MECHANISMS),
    *((name, None, "tanh") for name in MECHANISMS),
    ("luong", "soft", "context"),
    ("luong_scaled", "hard", "tanh"),
    ("bahdanau", "hard", "linear"),
    ("bahdanau_normalized", "soft", "tanh"),
]

#: Wrappers that decode.
DECODERS = {
    "softmax": ("bahdanau_normalized", None, "tanh"),
    "monotonic": ("luong", "soft", "tanh"),
    "context": ("bahdanau", None, "context"),
}

#: A decoder, whether a sequence may end early, and our penalties.
BEAMS = {
    "plain": ("softmax", True, {}),
    "monotonic": ("monotonic", True, {}),
    "length": ("softmax", True, {"length_penalty": 3.0}),
    "coverage": ("softmax", True, {"coverage_penalty": 1.0}),
    "both": (
        "softmax",
        True,
        {"length_penalty": 0.5, "coverage_penalty": 1.0},
    ),
    "endless": ("softmax", False, {"length_penalty": 1.5}),
}


def attention():
    """A memory, queries, and the weights of every mechanism."""
    normal = _normal(1)
    return {
        "query": normal(B, T, CELL),
        "value": normal(B, S, VALUE),
        "lengths": LENGTHS,
        "luong_W": normal(CELL, VALUE),
        "luong_g": np.float32(0.7),
        "bahdanau_W": normal(CELL, HIDDEN),
        "bahdanau_U": normal(VALUE, HIDDEN),
        "bahdanau_v": normal(HIDDEN),
        "bahdanau_g": np.float32(1.3),
        "bahdanau_b": normal(HIDDEN),
        "r": np.float32(0.1),
        "scores": normal(B, T, S) * 2,
    }


def heads():
    """The weights of heads, and which keys each query may see."""
    normal = _normal(2)
    pairs = np.random.default_rng(2).random((B, 1, T, S)) < 0.6
    pairs[..., 0] = True
    return {
        "heads_Q": normal(CELL, 2, 3),
        "heads_K": normal(VALUE, 2, 3),
        "heads_V": normal(VALUE, 2, 3),
        "heads_O": normal(2, 3, UNITS),
        "heads_b": normal(UNITS),
        "pairs": pairs,
    }


def stuck():
    """Probabilities to stop, 0 or 1, with no stop in the second step."""
    return np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 0, 1]], "float32")


def long():
    """Probabilities to stop at 1000 places, first about the middle."""
    places = np.linspace(-12, 12, 1000)
    first = 1 / (1 + np.exp(-places))
    return np.stack([first, np.full(1000, 0.3)]).astype("float32")


def sure():
    """Probabilities to stop; in the second step, the first place is sure."""
    return np.array([[0, 1, 0], [1, 0.5, 0.5]], "float32")


def wrapper():
    """As `attention`, with the weights of cells, and their first states."""
    normal = _normal(3)
    fed = {"context": VALUE, "layer": UNITS}
    return {
        **attention(),
        "r": np.float32(0.5),  # Every step stops somewhere.
        **{
            f"kernel_{name}": normal(EMBEDDING + size, 4 * CELL)
            for name, size in fed.items()
        },
        "recurrent_kernel": normal(CELL, 4 * CELL),
        "bias": normal(4 * CELL),
        "W": normal(VALUE + CELL, UNITS),  # Of [c; s].
        "h": normal(B, CELL),
        "c": normal(B, CELL),
        "inputs": normal(B, T, EMBEDDING),
    }


def decoders():
    """As `wrapper`, with tokens, their embedding and the output's weights."""
    normal = _normal(5)
    tokens = np.random.default_rng(5).integers(3, TOKENS, (B, T))
    return {
        **wrapper(),
        "targets": tokens.astype("int32"),
        "targets_lengths": np.array([4, 2, 3], "int32"),
        "embedding": normal(TOKENS, EMBEDDING),
        "output_W": normal(UNITS, TOKENS) * 2,
        "output_b": normal(TOKENS) * 0.3,
        "logits": normal(B, T, TOKENS),
        "output_W_context": normal(VALUE, TOKENS) * 2,
    }


def output_W(given, name):
    """The output's weights, of what a decoder's wrapper gives."""
    *_, fed = DECODERS[name]
    return given["output_W_context" if fed == "context" else "output_W"]


def output_b(given, may_end):
    """The output's bias, with which a sequence may end, or never does."""
    is_end = np.arange(TOKENS) == END
    return np.where(is_end & (not may_end), -30, given["output_b"])


def real(lengths, steps):
    """True before each length."""
    return np.arange(steps) < np.asarray(lengths)[..., None]


def _normal(seed):
    random = np.random.default_rng(seed)
    return lambda *shape: random.normal(size=shape).astype("float32")
