"""Our layers in the places of theirs."""

import dataclasses
from collections.abc import Callable

import keras
import numpy as np
from keras import ops

import keras_attention as ka
from keras_attention.migration import attention as of_attention
from keras_attention.migration import kaggle
from keras_attention.migration import keras_self_attention as of_self_attention
from keras_attention.migration.keras_self_attention import ActivatedScore
from tests.oracles.other_packages import inputs

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
SHAPE = (None, inputs.STEPS, inputs.DIM)
LAST = (None, 1, inputs.DIM)


@dataclasses.dataclass
class Ours:
    """What takes the place of one of their layers.

    Args:
        layers: Those that have the weights.
        read: Of the module that loads them.
        load: Sets them from arrays and a name.
        call: Of a sequence and a mask.
    """

    layers: list[keras.Layer]
    read: Callable
    load: Callable
    call: Callable

    def load_file(self, path):
        """Sets every weight, from zeros on."""
        for layer in self.layers:
            layer.set_weights([0 * weight for weight in layer.get_weights()])
        arrays = self.read(path)
        self.load(arrays, name_of_layer(arrays))


def name_of_layer(arrays):
    """Of the one behind the embedding."""
    (name,) = {name.split("/")[0] for name in arrays if "embed" not in name}
    return name


def make(name):
    """What takes the place of one of `inputs.PACKAGES`."""
    return MAKERS[name]()


def assert_equal(ours, theirs):
    """To rounding."""
    np.testing.assert_allclose(ours, theirs, **CLOSE)


def _asked_by_last_step(layer):
    layer.build(LAST, SHAPE)
    output_layer = keras.layers.Dense(inputs.UNITS, "tanh", use_bias=False)
    output_layer.build((None, 2 * inputs.DIM))

    def load(arrays, name):
        of_attention.load_attention(
            layer, arrays, name, output_layer=output_layer
        )

    def call(x, mask=None):
        last = x[:, -1:]
        context = layer(last, x, value_mask=mask)
        return output_layer(ops.concatenate([context, last], axis=-1))[:, 0]

    return Ours([layer, output_layer], of_attention.read, load, call)


def _on_itself(layer, **options):
    layer.build(SHAPE, SHAPE)

    def load(arrays, name):
        of_self_attention.load_attention(layer, arrays, name)

    def call(x, mask=None):
        return layer(x, x, value_mask=mask, **options)

    return Ours([layer], of_self_attention.read, load, call)


def _pooling(module, **options):
    layer = ka.FeedForwardAttention(**options)
    layer.build(SHAPE)

    def load(arrays, name):
        module.load_pooling(layer, arrays, name)

    def call(x, mask=None):
        return layer(x, mask=mask)

    return Ours([layer], module.read, load, call)


def _with_context():
    layer = ka.Attention(_additive(inputs.DIM))
    layer.build(LAST, SHAPE)

    def load(arrays, name):
        kaggle.load_attention(layer, arrays, name)

    def call(x, mask=None):
        return layer(x[:, :1], x, value_mask=mask)[:, 0]

    return Ours([layer], kaggle.read, load, call)


def _additive(units=inputs.UNITS):
    return ka.AdditiveScore(units, use_bias=True)


def _local():
    return ka.LocalMonotonicAttention(1, score=_additive())


def _with_sigmoid(score):
    return _on_itself(ka.Attention(ActivatedScore(score, "sigmoid")))


MAKERS = {
    "luong": lambda: _asked_by_last_step(ka.LuongAttention("general")),
    "bahdanau": lambda: _asked_by_last_step(ka.BahdanauAttention()),
    "additive": lambda: _on_itself(ka.Attention(_additive())),
    "additive_without_biases": lambda: _on_itself(
        ka.BahdanauAttention(inputs.UNITS)
    ),
    "additive_with_sigmoid": lambda: _with_sigmoid(_additive()),
    "multiplicative": lambda: _on_itself(ka.LuongAttention("general")),
    "multiplicative_with_sigmoid": lambda: _with_sigmoid("general"),
    "window": lambda: _on_itself(_local()),
    "history": lambda: _on_itself(
        ka.Attention(_additive()), use_causal_mask=True
    ),
    "history_window": lambda: _on_itself(_local(), use_causal_mask=True),
    "weighted": lambda: _pooling(of_self_attention, activation=None),
    "kaggle": lambda: _pooling(kaggle, step_bias=True),
    "kaggle_without_bias": lambda: _pooling(kaggle),
    "column": lambda: _pooling(kaggle, step_bias=True),
    "average": lambda: _pooling(kaggle, activation=None),
    "context": _with_context,
    "context_without_bias": _with_context,
}
