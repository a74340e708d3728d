"""Pooling and channel layers beside their matrix products alone.

The limit is the products as XLA makes them, in which scores serve as weights;
for squeeze and excitation the mean is a product with ones, and the scaling is
in it, as it writes the output.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import keras

import keras_attention as ka
from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side

HOPS = 8
WAYS = ("eager", "jit", "gradient")

Products = Callable[[Any, list[Any]], Any]


def self_attentive_embedding(H: Any, weights: list[Any]) -> Any:
    """`(V (W H^T)) H`."""
    import tensorflow as tf

    W, V = weights
    return tf.matmul((H @ W) @ V, H, transpose_a=True)


def feed_forward(h: Any, weights: list[Any]) -> Any:
    """`(w . h) h`."""
    import tensorflow as tf

    w, _b = weights
    return tf.matmul(h @ w, h, transpose_a=True)


def squeeze_excitation(x: Any, weights: list[Any]) -> Any:
    """`x V W (ones . x)`."""
    import tensorflow as tf

    W, V = weights
    ones = tf.ones((1, x.shape[-2]))
    return x * (((ones @ x) @ W) @ V)


LAYERS: dict[str, tuple[Callable[[Case], keras.Layer], Products]] = {
    "self_attentive_embedding": (
        lambda case: ka.SelfAttentiveEmbedding(HOPS, case.dim),
        self_attentive_embedding,
    ),
    "feed_forward": (lambda case: ka.FeedForwardAttention(), feed_forward),
    "squeeze_excitation": (
        lambda case: ka.SequenceSqueezeExcitation(),
        squeeze_excitation,
    ),
}


def cases(quick: bool) -> list[Case]:
    """Three layers in three ways."""
    size = {"batch": 32, "steps": 512, "dim": 256}
    if quick:
        size = {"batch": 1, "steps": 16, "dim": 8}
    return [
        Case(**size, layer=layer, way=way) for layer in LAYERS for way in WAYS
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours and the limit."""
    build, products = LAYERS[case.layer]
    x = keras.Input((case.steps, case.dim))
    model = keras.Model(x, build(case)(x))
    return {
        "ours": ways.side(model, case.way, case.batch),
        "limit": _limit(products, model, case),
    }


def _limit(products: Products, model: keras.Model, case: Case) -> Side:
    import tensorflow as tf

    x = ways.inputs_of(model, case.batch)
    weights = model.trainable_weights

    def function(x: Any) -> Any:
        return products(x, [weight.value for weight in weights])

    if case.way == "gradient":
        side = ways.gradient(function, x, weights, may_be_unused=True)
        return dataclasses.replace(side, results=None)
    compiled = tf.function(function, jit_compile=True)
    return Side(functools.partial(compiled, x[0]))
