"""One small example of every mechanism: how it is built and called."""

from functools import partial

import numpy as np

import keras_attention as ka

#: Batch, queries, keys; sizes of query and value where they may differ.
B, T, S = 2, 5, 6
DIM, VALUE_DIM = 4, 3


ENCODED = {"query": (B, T, DIM), "value": (B, S, VALUE_DIM)}
PAIR = {**ENCODED, "key": (B, S, DIM)}
SEQUENCE = {"inputs": (B, S, DIM)}

#: Name: (constructor, shapes of the call's arguments).
BLOCKED = {
    "dot": (partial(ka.Attention, "dot"), PAIR),
    "scaled_dot": (partial(ka.Attention, "scaled_dot"), PAIR),
    "bilinear": (
        partial(ka.LuongAttention, "general"),
        ENCODED,
    ),
    "additive": (partial(ka.BahdanauAttention, 3), ENCODED),
    "normalized_additive": (
        partial(ka.BahdanauAttention, 3, True),
        ENCODED,
    ),
    "cosine": (
        lambda **kwargs: ka.Attention(
            ka.CosineScore(2.0, True, dtype=kwargs.get("dtype")), **kwargs
        ),
        PAIR,
    ),
    "location": (
        lambda **kwargs: ka.Attention(
            ka.LocationScore(S, dtype=kwargs.get("dtype")), **kwargs
        ),
        ENCODED,
    ),
    "values_as_keys": (
        partial(ka.Attention, "dot"),
        {"query": (B, T, DIM), "value": (B, S, DIM)},
    ),
    "sparsemax": (partial(ka.Attention, "additive", "sparsemax"), PAIR),
    "sigmoid": (partial(ka.Attention, "bilinear", "sigmoid"), PAIR),
    "local_m": (partial(ka.LocalMonotonicAttention, 1), PAIR),
    "local_p": (partial(ka.LocalPredictiveAttention, 2), PAIR),
    "multi_head": (partial(ka.MultiHeadAttention, 2, 3), PAIR),
    "additive_heads": (
        partial(ka.MultiHeadAttention, 2, 3, 2, 5, score="additive"),
        PAIR,
    ),
}
#: Scores in blocks, weights in a loop.
ALIGNED = {
    "intra_temporal": (ka.IntraTemporalAttention, ENCODED),
    "monotonic": (ka.MonotonicAttention, ENCODED),
    "monotonic_hard": (
        partial(ka.MonotonicAttention, "general", "hard"),
        ENCODED,
    ),
    "forward": (
        partial(ka.ForwardAttention, transition_agent=True),
        ENCODED,
    ),
    "forward_mask": (ka.ForwardMaskAttention, ENCODED),
}
WHOLE = {
    "coverage": (partial(ka.CoverageAttention, 3), ENCODED),
    "key_value": (partial(ka.KeyValueAttention, 2, 2), SEQUENCE),
    "feed_forward": (ka.FeedForwardAttention, SEQUENCE),
    "feed_forward_by_step": (
        partial(ka.FeedForwardAttention, step_bias=True),
        SEQUENCE,
    ),
    "feed_forward_linear": (
        partial(ka.FeedForwardAttention, activation=None),
        SEQUENCE,
    ),
    "structured": (
        partial(ka.SelfAttentiveEmbedding, 2, 3, penalty=0.3),
        SEQUENCE,
    ),
    "squeeze_features": (
        partial(ka.SequenceSqueezeExcitation, ratio=1, use_bias=True),
        SEQUENCE,
    ),
    "squeeze_steps": (
        partial(ka.SequenceSqueezeExcitation, "steps", ratio=2),
        SEQUENCE,
    ),
    "memory": (
        partial(ka.KeyValueMemory, 2),
        {"query": (B, DIM), "value": (B, S, DIM), "key": (B, S, DIM)},
    ),
}
MECHANISMS = BLOCKED | ALIGNED | WHOLE

#: Their weights get no gradient; PyTorch refuses to look for one.
UNLEARNED = {"monotonic_hard"}


def make(name, **kwargs):
    """The layer, built, with random weights that are the same each time."""
    constructor, shapes = MECHANISMS[name]
    layer = constructor(**kwargs)
    layer.build(**{f"{key}_shape": shape for key, shape in shapes.items()})
    random = np.random.default_rng(0)
    for weight in layer.weights:
        weight.assign(0.7 * random.normal(size=weight.shape))
    return layer


def inputs(name, seed=1, dtype="float32"):
    """The tensors of one call."""
    random = np.random.default_rng(seed)
    return {
        key: random.normal(size=shape).astype(dtype)
        for key, shape in MECHANISMS[name][1].items()
    }


def masks(name):
    """A mask for each tensor that takes one; every query sees some key."""
    shapes = MECHANISMS[name][1]
    key_mask = np.arange(S) < np.array([[4], [6]])
    if "inputs" in shapes:
        return {"mask": key_mask}
    if len(shapes["query"]) == 2:
        return {"value_mask": key_mask}
    random = np.random.default_rng(2)
    attention_mask = random.random((B, T, S)) < 0.8
    return {
        "query_mask": np.arange(T) < np.array([[5], [3]]),
        "value_mask": key_mask,
        "attention_mask": attention_mask,
    }
