"""Blocks of queries change memory, and nothing else."""

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keras_attention as ka
from tests import mechanisms

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
SIZES = [1, 2, 3, 7, 100]


def _output_and_gradients(layer, call):
    """The output, and the gradient of EACH input and weight."""
    tensors = {
        key: tf.constant(value) if isinstance(value, np.ndarray) else value
        for key, value in call.items()
    }
    real = [
        x for x in tensors.values() if tf.is_tensor(x) and x.dtype.is_floating
    ]
    with tf.GradientTape() as tape:
        tape.watch(real)
        output = layer(**tensors)
        loss = tf.reduce_sum(tf.sin(tf.cast(output, "float32")))
    variables = [*real, *layer.trainable_variables]
    return output, tape.gradient(loss, variables)


def _assert_close(actual, expected, **tolerance):
    for a, b in zip(
        tf.nest.flatten(actual), tf.nest.flatten(expected), strict=True
    ):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(
                np.asarray(a, "float32"),
                np.asarray(b, "float32"),
                **{**CLOSE, **tolerance},
            )


def _calls(name):
    plain, masks = mechanisms.inputs(name), mechanisms.masks(name)
    return {
        "plain": plain,
        "masked": {**plain, **masks},
        "causal": {**plain, **masks, "use_causal_mask": True},
    }


@pytest.mark.parametrize("name", mechanisms.BLOCKED)
def test_output_and_gradients_do_not_depend_on_blocks(name):
    layer = mechanisms.make(name, jit_compile=False)
    calls = _calls(name)
    expected = {
        kind: _output_and_gradients(layer, call) for kind, call in calls.items()
    }
    for size in SIZES:
        blocked = mechanisms.make(
            name, jit_compile=False, query_block_size=size
        )
        kinds = calls if size in (2, 3) else ["masked"]
        for kind in kinds:
            _assert_close(
                _output_and_gradients(blocked, calls[kind]), expected[kind]
            )


@pytest.mark.parametrize("name", ["additive", "local_p", "multi_head"])
def test_compiled_blocks(name):
    call = _calls(name)["masked"]
    expected = _output_and_gradients(mechanisms.make(name), call)
    blocked = mechanisms.make(name, query_block_size=2)
    _assert_close(_output_and_gradients(blocked, call), expected)
    function = tf.function(
        lambda: _output_and_gradients(blocked, call), jit_compile=True
    )
    _assert_close(function(), expected)


@pytest.mark.parametrize("name", ["additive", "local_m", "multi_head"])
def test_dropout_does_not_depend_on_blocks(name):
    call = {**_calls(name)["masked"], "training": True}
    options = {"dropout": 0.5, "seed": 5, "jit_compile": False}
    plain = mechanisms.make(name, **options)
    expected = [_output_and_gradients(plain, call) for _ in range(2)]
    assert not np.allclose(expected[0][0], expected[1][0])
    for size in (1, 2, 100):
        blocked = mechanisms.make(name, query_block_size=size, **options)
        _assert_close(
            [_output_and_gradients(blocked, call) for _ in range(2)], expected
        )


@pytest.mark.parametrize("name", mechanisms.BLOCKED)
def test_asking_for_the_weights_never_changes_the_answer(name):
    call = _calls(name)["causal"]
    for training in (False, True):
        first, second = (
            mechanisms.make(
                name,
                query_block_size=2,
                dropout=0.4,
                seed=1,
                jit_compile=name in ("additive", "local_p"),
            )
            for _ in range(2)
        )
        output = first(**call, training=training)
        asked, weights = second(
            **call, training=training, return_attention_scores=True
        )
        _assert_close(asked, output)
        assert weights.shape[-2:] == (mechanisms.T, mechanisms.S)


@pytest.mark.parametrize("jit_compile", [True, False])
@pytest.mark.parametrize("layer", ["additive", "local_p", "multi_head"])
def test_unknown_lengths_inside_fit(layer, jit_compile):
    """With one weight's worth of training, and lengths that change."""
    make = {
        "additive": lambda size: ka.BahdanauAttention(3, query_block_size=size),
        "local_p": lambda size: ka.LocalPredictiveAttention(
            1, query_block_size=size
        ),
        "multi_head": lambda size: ka.MultiHeadAttention(
            2, 3, query_block_size=size
        ),
    }[layer]
    if jit_compile and layer != "additive":
        pytest.skip("one of them is enough: each length is compiled")
    data = np.random.default_rng(0).normal(size=(4, 9, 4)).astype("float32")
    batches = [data, data[:, :5]]
    spec = tf.TensorSpec((None, None, 4))

    def fitted(size, weights=None):
        x = keras.Input((None, 4))
        model = keras.Model(x, make(size)(x, x))
        model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=jit_compile)
        if weights is not None:
            model.set_weights(weights)
        start = model.get_weights()
        model.fit(
            tf.data.Dataset.from_generator(
                lambda: ((x, x[..., :1] * x) for x in batches),
                output_signature=(spec, spec),
            ).apply(tf.data.experimental.assert_cardinality(2)),
            shuffle=False,
            verbose=0,
        )
        return start, model.get_weights()

    start, expected = fitted(100)
    assert not np.allclose(start[0], expected[0])
    _assert_close(fitted(2, start)[1], expected)


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    data=st.data(),
    name=st.sampled_from(
        ["scaled_dot", "additive", "sparsemax", "local_m", "local_p", "heads"]
    ),
    dtype=st.sampled_from(["float32", "float64", "mixed_bfloat16"]),
    size=st.integers(1, 9),
    causal=st.booleans(),
)
def test_any_shape_mask_and_block_size(data, name, dtype, size, causal):
    B, T, S, D = (data.draw(st.integers(1, n)) for n in (3, 9, 7, 5))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    call = {
        "query": random.normal(size=(B, T, D)),
        "value": random.normal(size=(B, S, D)),
        "use_causal_mask": causal,
    }
    for mask, shape in (
        ("query_mask", (B, T)),
        ("value_mask", (B, S)),
        ("attention_mask", data.draw(st.sampled_from([(B, T, S), (1, T, S)]))),
    ):
        if data.draw(st.booleans()):
            call[mask] = random.random(shape) < 0.6

    def make(size):
        options = {
            "dtype": dtype,
            "jit_compile": False,
            "query_block_size": size,
        }
        keras.utils.set_random_seed(1)
        layer = {
            "scaled_dot": lambda: ka.Attention(**options),
            "additive": lambda: ka.BahdanauAttention(**options),
            "sparsemax": lambda: ka.Attention("dot", "sparsemax", **options),
            "local_m": lambda: ka.LocalMonotonicAttention(1, **options),
            "local_p": lambda: ka.LocalPredictiveAttention(2, **options),
            "heads": lambda: ka.MultiHeadAttention(2, 3, **options),
        }[name]()
        layer.build((B, T, D), (B, S, D))
        return layer

    tolerance = 0.05 if dtype == "mixed_bfloat16" else 1e-4
    plain = _output_and_gradients(make(100), call)
    assert np.isfinite(np.asarray(plain[0], "float32")).all()
    blocked = _output_and_gradients(make(size), call)
    _assert_close(blocked, plain, rtol=tolerance, atol=tolerance)


PEAK = """
import resource
import numpy as np
import tensorflow as tf
import keras_attention as ka

T, D = 2048, 64
x = tf.constant(np.random.randn(1, T, D).astype("float32"))
layer = ka.BahdanauAttention(D, jit_compile={jit_compile})
layer(x[:, :16], x[:, :16])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(layer(x, x))
assert tape.gradient(loss, x).shape == x.shape
print("PEAK", peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("jit_compile", [True, False])
def test_peak_memory_is_an_eighth_of_what_all_pairs_take(jit_compile):
    """`tanh(W q + U k)` of all pairs alone is 1.07 GB."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(jit_compile=jit_compile)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split("PEAK")[1])
    assert peak < 4 * 2048 * 2048 * 64 / 8
