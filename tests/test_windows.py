"""Gathered windows and the whole sequence, masked, are the same attention."""

import collections

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import keras_attention as ka
from keras_attention import block_loop, compilation, query_blocks, windows
from keras_attention.local_attention import LocalAttention

LAYERS = {
    "local_m": ka.LocalMonotonicAttention,
    "local_p": ka.LocalPredictiveAttention,
}


def _results(layer, kind, call, **options):
    """Context, weights and gradients, with one kind of window."""
    layer._kind_of_window = lambda _shared: kind
    layer.seed_generator.state.assign([1, 2])
    query, value = (tf.constant(call.pop(x)) for x in ("query", "value"))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([query, value])
        context, weights = layer(
            query, value, **call, return_attention_scores=True, **options
        )
        layer.seed_generator.state.assign([1, 2])
        again = layer(query, value, **call, **options)
        loss = tf.reduce_sum(tf.sin(again))
    sources = [query, value, *layer.trainable_variables]
    gradients = tape.gradient(loss, sources)
    return [context, weights, again, *gradients]


@settings(
    max_examples=25,
    phases=[Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    data=st.data(),
    name=st.sampled_from(sorted(LAYERS)),
    score=st.sampled_from(["dot", "general", "additive", "cosine"]),
    radius=st.integers(1, 4),
    causal=st.booleans(),
    dropout=st.sampled_from([0.0, 0.4]),
    broken=st.booleans(),
)
def test_both_kinds_give_the_same(
    data, name, score, radius, causal, dropout, broken
):
    B, T, D = (data.draw(st.integers(1, n)) for n in (3, 6, 4))
    S = data.draw(st.integers(0, 12))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    call = {
        "query": random.normal(size=(B, T, D)),
        "value": random.normal(size=(B, S, D)),
        "use_causal_mask": causal,
    }
    if broken and S:
        call["value"][0, random.integers(S)] = np.nan
    for mask, shape in (
        ("query_mask", (B, T)),
        ("value_mask", (B, S)),
        ("attention_mask", data.draw(st.sampled_from([(B, T, S), (1, T, S)]))),
    ):
        if data.draw(st.booleans()):
            call[mask] = random.random(shape) < 0.6
    keras.utils.set_random_seed(1)
    layer = LAYERS[name](
        radius, score, dropout=dropout, dtype="float64", jit_compile=False
    )
    layer.build((B, T, D), (B, S, D))
    gathered, whole = (
        _results(layer, kind, dict(call), training=dropout > 0)
        for kind in (windows.Gathered, windows.Whole)
    )
    if broken:  # A loss that is NaN has no gradient to compare.
        gathered, whole = gathered[:3], whole[:3]
    for one, other in zip(gathered, whole, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "score, steps, kind",
    [
        ("general", 300, windows.Whole),
        ("general", 400, windows.Gathered),
        (ka.AdditiveScore(64), 50, windows.Whole),
        (ka.AdditiveScore(64), 100, windows.Gathered),
        ("location", 30, windows.Gathered),
        ("general", None, windows.Gathered),
    ],
)
def test_few_keys_are_scored_at_once(score, steps, kind):
    layer: LocalAttention = ka.LocalMonotonicAttention(10, score)
    layer.build((2, 5, 64), (2, steps, 64))
    memory = keras.KerasTensor((2, steps, 64))
    assert layer._kind_of_window({"key": memory, "value": memory}) is kind


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_long_memories_are_gathered_compiled(name):
    """What the other tests, whose memories are short, do not reach."""
    x = np.random.default_rng(0).normal(size=(2, 64, 4)).astype("float32")
    layer = LAYERS[name](1)
    context = layer(x, x)
    layer._kind_of_window = lambda _shared: windows.Whole
    layer.jit_compile = False
    np.testing.assert_allclose(context, layer(x, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("jit_compile", [True, False])
def test_windows_that_xla_never_writes_have_blocks_in_the_gradient_alone(
    jit_compile, monkeypatch
):
    compilation._shared.clear()  # A program keeps the blocks it was made with.
    monkeypatch.setattr(query_blocks, "BUDGET", 2**12)  # Of scores, not keys.
    made = collections.Counter()
    for name in ("_forward", "_gradient", "_whole"):
        monkeypatch.setattr(block_loop, name, _counting(name, made))
    x = np.random.default_rng(0).normal(size=(2, 64, 4)).astype("float32")
    layer = ka.LocalMonotonicAttention(1, jit_compile=jit_compile)
    layer.build(x.shape, x.shape)
    layer._kind_of_window = lambda _shared: windows.Gathered
    blocked = _gradients(layer, x)
    forward = "_whole" if jit_compile else "_forward"
    assert made == {forward: 1, "_gradient": 1}
    monkeypatch.undo()
    whole = ka.LocalMonotonicAttention(1, jit_compile=False)
    whole.build(x.shape, x.shape)
    whole.set_weights(layer.get_weights())
    whole._kind_of_window = lambda _shared: windows.Whole
    for one, other in zip(blocked, _gradients(whole, x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    compilation._shared.clear()


def _counting(name, made):
    function = getattr(block_loop, name)

    def counted(*args, **kwargs):
        made[name] += 1
        return function(*args, **kwargs)

    return counted


def _gradients(layer, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        context = layer(x, x)
        loss = tf.reduce_sum(tf.sin(context))
    return [context, *tape.gradient(loss, [x, *layer.trainable_variables])]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_steps_before_each_step(width):
    x = np.arange(1.0, 13.0).reshape(2, 3, 2)
    padded = np.concatenate([np.zeros((2, width, 2)), x], axis=1)
    expected = [[row[t : t + width] for t in range(3)] for row in padded]
    np.testing.assert_array_equal(windows.before(x, width), expected)
    mask = np.array([[True, False, True], [False, True, True]])
    padded = np.concatenate([np.zeros((2, width), bool), mask], axis=1)
    expected = [[row[t : t + width] for t in range(3)] for row in padded]
    np.testing.assert_array_equal(windows.mask_before(mask, width), expected)


def test_a_score_of_places_scores_those_of_the_window():
    x = np.eye(6, dtype="float32")[None]
    layer = ka.LocalMonotonicAttention(1, "location")
    layer.build(x.shape, x.shape)
    layer.score.W.assign(np.tile([0.0, np.log(2.0), np.log(5.0)], (6, 1)))
    weights = layer(x, x)[0]
    np.testing.assert_allclose(weights[0], [2 / 7, 5 / 7, 0, 0, 0, 0], 1e-6)
    np.testing.assert_allclose(weights[3], [0, 0, 1 / 8, 1 / 4, 5 / 8, 0], 1e-6)
