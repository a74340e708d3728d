"""What no peer has: written from the paper with Keras layers, in a few lines.

Each function returns two models with the same weights, ours and the naive one.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import layers, ops

import keras_attention as ka
from benchmarks.cases import Size

Pair = tuple[keras.Model, keras.Model]


def sequences(size: Size) -> list[Any]:
    """Symbolic query and value."""
    shape = (size.steps, size.dim)
    return [keras.Input(shape), keras.Input(shape)]


def pair(given: Any, ours: Any, theirs: Any) -> Pair:
    """Two models of an input or several; theirs gets the weights of ours.

    Theirs must have the same weights in the same order.
    """
    models = keras.Model(given, ours), keras.Model(given, theirs)
    models[1].set_weights(models[0].get_weights())
    return models


def dense(units: int, activation: str | None = None) -> keras.Layer:
    """A matrix."""
    return layers.Dense(units, activation, use_bias=False)


def projected(size: Size) -> tuple[list[Any], list[Any], list[Any]]:
    """Inputs, and query and value behind a matrix each, for both models.

    A mechanism without weights is trained through its inputs.
    """
    given = sequences(size)
    ours, theirs = (
        [dense(size.dim)(x) for x in given] for _which in ("ours", "theirs")
    )
    return given, ours, theirs


def read(scores: Any, value: Any) -> Any:
    """Scores to context, by a softmax."""
    return layers.Dot((2, 1))([layers.Softmax()(scores), value])


def luong_location(size: Size) -> Pair:
    """A score for each place, from the query alone."""
    query, value = given = sequences(size)
    ours = ka.LuongAttention("location")(query, value)
    theirs = read(dense(size.steps)(query), value)
    return pair(given, ours, theirs)


def cosine(size: Size) -> Pair:
    """Keras's `Dot` of normalised vectors."""
    given, ours, (query, value) = projected(size)
    scores = layers.Dot((2, 2), normalize=True)([query, value])
    ours = ka.Attention("cosine")(*ours)
    return pair(given, ours, read(scores, value))


def sigmoid(size: Size) -> Pair:
    """The general score under a sigmoid."""
    return _aligned(size, "sigmoid", ops.sigmoid)


def sparsemax(size: Size) -> Pair:
    """The general score under the paper's algorithm 1.

    Keras 3.15's own `sparsemax` gives weights that do not sum to 1.
    """
    return _aligned(size, "sparsemax", _sparsemax)


def _sparsemax(z: Any) -> Any:
    z_sorted, _places = ops.top_k(z, z.shape[-1])
    z_sum = ops.cumsum(z_sorted, axis=-1)
    rank = ops.arange(1, z.shape[-1] + 1, dtype=z.dtype)
    in_support = ops.cast(1 + rank * z_sorted > z_sum, z.dtype)
    k = ops.sum(in_support, axis=-1, keepdims=True)
    tau = ops.sum(in_support * z_sorted, axis=-1, keepdims=True) - 1
    return ops.relu(z - tau / k)


def _aligned(size: Size, name: str, alignment: Callable[[Any], Any]) -> Pair:
    query, value = given = sequences(size)
    ours = ka.Attention("general", name)(query, value)
    scores = layers.Dot((2, 2))([dense(size.dim)(query), value])
    theirs = layers.Dot((2, 1))([alignment(scores), value])
    return pair(given, ours, theirs)


class NormalizedSum(keras.Layer):
    """`g v / |v| . tanh(q + k + b)` of every query and key."""

    def build(self, query_shape: Any, key_shape: Any) -> None:
        """Creates `v`, `g` and `b`."""
        units = query_shape[-1]
        self.v = self.add_weight((units, 1), name="v")
        self.g = self.add_weight((), name="g")
        self.b = self.add_weight((units,), name="b")

    def call(self, query: Any, key: Any) -> Any:
        """The scores, `(batch, Tq, Tv)`."""
        v = ops.squeeze(self.g * self.v / ops.norm(self.v), -1)
        query, key = ops.expand_dims(query, 2), ops.expand_dims(key, 1)
        return ops.sum(v * ops.tanh(query + key + self.b), axis=-1)


def bahdanau_normalized(size: Size) -> Pair:
    """Weight normalisation in a layer of one's own."""
    query, value = given = sequences(size)
    ours = ka.BahdanauAttention(size.dim, normalize=True)(query, value)
    scores = NormalizedSum()(dense(size.dim)(query), dense(size.dim)(value))
    return pair(given, ours, read(scores, value))


def local_predictive(size: Size, radius: int = 10) -> Pair:
    """All scores, those outside the window hidden."""
    query, value = given = sequences(size)
    ours = ka.LocalPredictiveAttention(radius)(query, value)
    hidden = dense(size.dim, "tanh")(query)
    centre = size.steps * dense(1, "sigmoid")(hidden)
    distance = ops.arange(size.steps, dtype="float32") - centre
    scores = layers.Dot((2, 2))([dense(size.dim)(query), value])
    scores = ops.where(ops.abs(distance) <= radius, scores, -1e9)
    gaussian = ops.exp(-2 * ops.square(distance / radius))
    context = ops.matmul(ops.softmax(scores) * gaussian, value)
    return pair(given, ours, context)


class SlicedKeyValue(keras.Layer):
    """Key-value attention; the past is a stack of slices."""

    def __init__(self, window: int, parts: int) -> None:
        super().__init__()
        self.window, self.parts = window, parts

    def build(self, shape: Any) -> None:
        """Creates `R`, `X`, `H`, `Y` and `w`."""
        part = shape[-1] // self.parts
        self.R, self.X = dense(part), dense(part)
        self.H, self.Y = dense(part), dense(part)
        self.w = dense(1)
        for layer in (self.R, self.X, self.H, self.Y, self.w):
            layer.build((None, None, part))

    def call(self, h: Any) -> Any:
        """The outputs, `(batch, T, part)`."""
        split = ops.split(h, self.parts, axis=-1)
        k, v, p = split[0], split[1], split[-1]
        query = ops.expand_dims(self.H(k), 2)
        scores = self.w(ops.tanh(query + self._past(self.Y(k))))
        place = ops.arange(h.shape[1])[:, None] + ops.arange(self.window)
        exists = ops.expand_dims(place >= self.window, -1)
        weights = ops.softmax(ops.where(exists, scores, -1e9), axis=2)
        weights = ops.where(exists, weights, 0)
        r = ops.sum(weights * self._past(v), axis=2)
        return ops.tanh(self.R(r) + self.X(p))

    def _past(self, x: Any) -> Any:
        """The last steps before each, `(batch, T, window, dim)`."""
        steps = x.shape[1]
        padded = ops.pad(x, [[0, 0], [self.window, 0], [0, 0]])
        slices = [padded[:, i : i + steps] for i in range(self.window)]
        return ops.stack(slices, axis=2)


def key_value(size: Size) -> Pair:
    """Outputs split in key and value."""
    return _key_value(size, parts=2)


def key_value_predict(size: Size) -> Pair:
    """Outputs split in key, value and prediction."""
    return _key_value(size, parts=3)


def _key_value(size: Size, parts: int, window: int = 5) -> Pair:
    dim = parts * max(size.dim // parts, 1)
    x = keras.Input((size.steps, dim))
    ours = ka.KeyValueAttention(window, parts)(x)
    return pair(x, ours, SlicedKeyValue(window, parts)(x))


def feed_forward(size: Size) -> Pair:
    """One score a step, softmax over the steps."""
    x, _value = sequences(size)
    ours = ka.FeedForwardAttention()(x)
    scores = layers.Dense(1, "tanh")(x)
    weights = layers.Softmax(axis=1)(scores)
    return pair(x, ours, ops.squeeze(layers.Dot((1, 1))([weights, x]), 1))


def self_attentive_embedding(size: Size) -> Pair:
    """Two matrices and a softmax over the steps; no penalty."""
    x, _value = sequences(size)
    ours = ka.SelfAttentiveEmbedding(hops=size.heads, units=size.dim)(x)
    scores = dense(size.heads)(dense(size.dim, "tanh")(x))
    weights = layers.Softmax(axis=1)(scores)
    return pair(x, ours, layers.Dot((1, 1))([weights, x]))


def squeeze_excitation(size: Size, ratio: int = 4) -> Pair:
    """The mean over the steps scales the features."""
    x, _value = sequences(size)
    ours = ka.SequenceSqueezeExcitation("features", ratio)(x)
    z = layers.GlobalAveragePooling1D()(x)
    s = dense(size.dim, "sigmoid")(dense(size.dim // ratio, "relu")(z))
    theirs = layers.Multiply()([x, layers.Reshape((1, size.dim))(s)])
    return pair(x, ours, theirs)


def squeeze_excitation_steps(size: Size, ratio: int = 4) -> Pair:
    """The mean over the features scales the steps."""
    x, _value = sequences(size)
    ours = ka.SequenceSqueezeExcitation("steps", ratio)(x)
    z = ops.mean(x, axis=-1)
    units = max(1, size.steps // ratio)
    s = dense(size.steps, "sigmoid")(dense(units, "relu")(z))
    theirs = layers.Multiply()([x, layers.Reshape((size.steps, 1))(s)])
    return pair(x, ours, theirs)


def key_value_memory(size: Size, hops: int = 2) -> Pair:
    """Keys and values apart, asked over and over."""
    question = keras.Input((size.dim,))
    key, value = sequences(size)
    ours = ka.KeyValueMemory(hops)(question, value, key)
    q = question
    for _hop in range(hops):
        weights = layers.Softmax()(layers.Dot((1, 2))([q, key]))
        o = layers.Dot((1, 1))([weights, value])
        q = dense(size.dim)(layers.Add()([q, o]))
    return pair([question, key, value], ours, q)
