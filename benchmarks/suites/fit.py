"""Seconds per epoch of `fit` with its defaults, of a small classifier.

Embedding, attention of each step to all, mean, Dense; 2,000 generated examples
of 100 words. The other sides are the same model with the attention of Keras
that comes nearest, and with no attention.
"""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

WORDS = 2000
EXAMPLES = 2000
BATCH = 32

Build = Callable[[Case], Any]
Pool = Callable[[Any], Any]


def _pooled(attend: Build, case: Case) -> Pool:
    """Each step asks all, and the answers are averaged."""
    layer = attend(case)
    average = keras.layers.GlobalAveragePooling1D()
    return lambda x: average(layer(x, x))


def _memory(case: Case) -> Pool:
    """The mean of the steps asks them."""
    average = keras.layers.GlobalAveragePooling1D()
    remember = ka.KeyValueMemory()
    return lambda x: remember(average(x), x)


def _averaged(layer: keras.Layer) -> Pool:
    average = keras.layers.GlobalAveragePooling1D()
    return lambda x: average(layer(x))


def _flat(layer: keras.Layer) -> Pool:
    flatten = keras.layers.Flatten()
    return lambda x: flatten(layer(x))


#: Layers that are not called with query and value.
OTHERS: dict[str, Callable[[Case], Pool]] = {
    "sparsemax": lambda case: _pooled(
        lambda _: ka.Attention("bilinear", "sparsemax"), case
    ),
    "sigmoid": lambda case: _pooled(
        lambda _: ka.Attention("bilinear", "sigmoid"), case
    ),
    "local_monotonic": lambda case: _pooled(
        lambda _: ka.LocalMonotonicAttention(), case
    ),
    "local_predictive": lambda case: _pooled(
        lambda _: ka.LocalPredictiveAttention(), case
    ),
    "key_value": lambda case: _averaged(ka.KeyValueAttention(5)),
    "feed_forward": lambda case: ka.FeedForwardAttention(),
    "self_attentive_embedding": lambda case: _flat(
        ka.SelfAttentiveEmbedding(4, case.dim)
    ),
    "squeeze_excitation": lambda case: _averaged(
        ka.SequenceSqueezeExcitation()
    ),
    "key_value_memory": _memory,
}

#: Keras's attention that comes nearest, if it is not of the same name.
NEAREST = {
    "scaled_dot": "dot",
    "cosine": "dot",
    "location": "dot",
    "normalized_additive": "additive",
    "sparsemax": "bilinear",
    "sigmoid": "bilinear",
    "local_monotonic": "bilinear",
    "local_predictive": "bilinear",
    "key_value": "dot",
}


def cases(quick: bool) -> list[Case]:
    """A row for each mechanism; for three, if quick."""
    names = [*layers.OURS, *OTHERS]
    size = {"batch": BATCH, "steps": 100, "dim": 64}
    if quick:
        names = ["multi_head", "additive", "feed_forward"]
        size = {"batch": BATCH, "steps": 8, "dim": 8}
    return [Case(**size, way="fit", layer=name) for name in names]


def sides(case: Case) -> dict[str, Side]:
    """Ours, the nearest of Keras's if there is one, and the mean alone."""
    pools = {"ours": _ours(case)}
    nearest = NEAREST.get(case.layer, case.layer)
    if nearest in layers.KERAS:
        pools["keras"] = _pooled(layers.KERAS[nearest], case)
    pools["mean"] = keras.layers.GlobalAveragePooling1D()
    return {name: _side(pool, case) for name, pool in pools.items()}


def _ours(case: Case) -> Pool:
    if case.layer in OTHERS:
        return OTHERS[case.layer](case)
    return _pooled(layers.OURS[case.layer], case)


def _side(pool: Pool, case: Case) -> Side:
    words = keras.Input((case.steps,), dtype="int32")
    x = keras.layers.Embedding(WORDS, case.dim)(words)
    model = keras.Model(words, keras.layers.Dense(2)(pool(x)))
    model.compile(
        "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    rng = np.random.default_rng(0)
    examples = EXAMPLES if case.steps > 8 else 2 * case.batch
    x = rng.integers(WORDS, size=(examples, case.steps), dtype="int32")
    y = x[:, 0] % 2
    return Side(lambda: model.fit(x, y, batch_size=case.batch, verbose=0))
