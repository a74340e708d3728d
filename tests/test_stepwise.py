"""Asked step by step, attention gives what it gives for all steps at once."""

import keras
import numpy as np
import pytest
from keras import ops

import keras_attention as ka

LAYERS = {
    "dot": lambda **more: ka.Attention("cosine", **more),
    "sparsemax": lambda **more: ka.Attention("general", "sparsemax", **more),
    "location": lambda **more: ka.LuongAttention(ka.LocationScore(9), **more),
    "luong": lambda **more: ka.LuongAttention(**more),
    "bahdanau": lambda **more: ka.BahdanauAttention(normalize=True, **more),
    "local_m": lambda **more: ka.LocalMonotonicAttention(1, **more),
    "local_p": lambda **more: ka.LocalPredictiveAttention(2, **more),
    "coverage": lambda **more: ka.CoverageAttention(3, **more),
    "intra_temporal": lambda **more: ka.IntraTemporalAttention(**more),
    "monotonic": lambda **more: ka.MonotonicAttention(**more),
    "monotonic_hard": lambda **more: ka.MonotonicAttention(mode="hard", **more),
    "forward": lambda **more: ka.ForwardAttention(
        transition_agent=True, **more
    ),
    "forward_mask": lambda **more: ka.ForwardMaskAttention(**more),
    "heads": lambda **more: ka.MultiHeadAttention(2, 3, **more),
}

#: A broken step breaks what comes later. A place cannot be NaN.
REMEMBER_NUMBERS = {"coverage", "intra_temporal", "monotonic", "forward"}

every_layer = pytest.mark.parametrize("name", LAYERS)


def _given():
    rng = np.random.default_rng(0)
    query, value, key = (
        rng.normal(size=(3, *size)).astype("float32")
        for size in ((4, 6), (5, 6), (5, 6))
    )
    mask = np.arange(5) < [[5], [3], [0]]
    value[1, 4] = np.nan  # Behind the mask.
    return query, value, key, mask


def in_steps(layer, query, value, key, mask, training=False):
    """Contexts, weights and the last state."""
    memory = layer.remember(
        ops.convert_to_tensor(value), key, mask, training=training
    )
    state = layer.initial_state(memory)
    contexts, weights = [], []
    for number in range(query.shape[1]):
        position = ops.full((len(query),), number, "int32")
        context, weight, state = layer.recall(
            ops.convert_to_tensor(query[:, number : number + 1]),
            memory,
            state,
            position,
        )
        contexts.append(context)
        weights.append(weight)
    return ops.concatenate(contexts, 1), ops.concatenate(weights, 1), state


@every_layer
def test_steps_are_the_whole(name):
    query, value, key, mask = _given()
    layer = LAYERS[name]()
    context, weights = layer(
        query, value, key, value_mask=mask, return_attention_scores=True
    )
    if name == "heads":
        weights = ops.mean(weights, axis=1)
    contexts, step_weights, _ = in_steps(layer, query, value, key, mask)
    np.testing.assert_allclose(contexts, context, atol=1e-6)
    np.testing.assert_allclose(step_weights, weights, atol=1e-6)


@every_layer
def test_dropout_drops_the_same_in_steps(name):
    """Where queries count from the first key: as many as there are keys."""
    query, value, key, mask = _given()
    query = np.concatenate([query, query[:, :1]], axis=1)
    layer = LAYERS[name](dropout=0.5, seed=3)
    whole = layer(query, value, key, value_mask=mask, training=True)
    again = LAYERS[name](dropout=0.5, seed=3)
    again(query, value, key)
    again.set_weights(layer.get_weights())
    contexts, _, _ = in_steps(again, query, value, key, mask, training=True)
    np.testing.assert_allclose(contexts, whole, atol=1e-6)
    plain = layer(query, value, key, value_mask=mask)
    assert np.abs(ops.convert_to_numpy(whole - plain)).max() > 0.1


@every_layer
def test_a_broken_query_is_seen_and_a_hidden_key_is_not(name):
    query, value, key, mask = _given()
    query[0, 1] = np.nan
    layer = LAYERS[name]()
    layer(query, value, key)
    contexts, _, _ = in_steps(layer, query, value, key, mask)
    is_broken = np.isnan(ops.convert_to_numpy(contexts)).any(-1)
    later = name in REMEMBER_NUMBERS
    assert is_broken.tolist() == [
        [False, True, later, later],
        *[[False] * 4] * 2,
    ]


def test_keys_are_projected_once_per_memory():
    class Counting(ka.DotScore):
        projected = 0

        def project_key(self, key):
            type(self).projected += 1
            return key

    query, value, key, mask = _given()
    layer = ka.Attention(Counting())
    layer.build(query.shape, value.shape)
    in_steps(layer, query, value, key, mask)
    assert Counting.projected == 1
    assert isinstance(layer, keras.Layer)
