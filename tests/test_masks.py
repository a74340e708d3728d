"""Who may see whom: masks of every kind, alone and together."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka
from keras_attention import masks

B, T, S, D = 2, 3, 4, 5


def _x(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


QUERY, VALUE = _x(B, T, D), _x(B, S, D)
LAYERS = {
    "attention": lambda: ka.Attention("dot", jit_compile=False),
    "heads": lambda: ka.MultiHeadAttention(2, 3, jit_compile=False),
    "local": lambda: ka.LocalMonotonicAttention(
        9, score="dot", jit_compile=False
    ),
}


def _weights(layer, **masks):
    """The weights, `(B, heads, T, S)`."""
    _context, weights = layer(
        QUERY, VALUE, return_attention_scores=True, **masks
    )
    weights = np.asarray(weights)
    return weights if weights.ndim == 4 else weights[:, None]


@pytest.mark.parametrize("kind", LAYERS)
def test_every_mask_hides_and_the_rest_sums_to_one(kind):
    random = np.random.default_rng(1)
    query_mask = random.random((B, T)) < 0.7
    value_mask = random.random((B, S)) < 0.7
    attention_mask = random.random((B, T, S)) < 0.7
    causal = np.arange(S) <= np.arange(T)[:, None] + (S - T)
    visible = (
        query_mask[:, :, None] & value_mask[:, None] & attention_mask & causal
    )[:, None]
    weights = _weights(
        LAYERS[kind](),
        query_mask=query_mask,
        value_mask=value_mask,
        attention_mask=attention_mask,
        use_causal_mask=True,
    )
    visible = np.broadcast_to(visible, weights.shape)
    np.testing.assert_array_equal(weights[~visible], 0.0)
    sums = weights.sum(-1)
    np.testing.assert_allclose(sums, visible.any(-1), rtol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
def test_shapes_of_the_attention_mask(kind):
    layer = LAYERS[kind]()
    keys = np.array([[1, 1, 0, 1], [1, 0, 0, 1]], bool)
    by_value_mask = _weights(layer, value_mask=keys)
    by_keys = _weights(layer, attention_mask=keys)
    by_row = _weights(layer, attention_mask=keys[:, None])
    by_pairs = _weights(
        layer, attention_mask=np.broadcast_to(keys[:, None], (B, T, S))
    )
    one_for_all = np.tril(np.ones((1, T, S), bool))
    for weights in (by_keys, by_row, by_pairs):
        np.testing.assert_allclose(weights, by_value_mask, rtol=1e-6)
    np.testing.assert_allclose(
        _weights(layer, attention_mask=one_for_all),
        _weights(layer, attention_mask=np.tile(one_for_all, (B, 1, 1))),
    )


def test_mask_of_each_head():
    layer = LAYERS["heads"]()
    mask = np.random.default_rng(2).random((B, 2, T, S)) < 0.5
    weights = _weights(layer, attention_mask=mask)
    np.testing.assert_array_equal(weights > 0, mask)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_integers_are_masks(kind, dtype):
    layer = LAYERS[kind]()
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 1]])
    np.testing.assert_array_equal(
        _weights(layer, value_mask=mask.astype(dtype)),
        _weights(layer, value_mask=mask.astype(bool)),
    )


@pytest.mark.parametrize("name", ["query_mask", "value_mask", "attention_mask"])
def test_other_masks_are_refused(name):
    layer = ka.Attention("dot")
    steps = T if name == "query_mask" else S
    expected = f"`{name}` must hold booleans, or integers 0 and 1"
    for mask in (np.ones((B, steps), "float32"), 7 * np.ones((B, steps), int)):
        with pytest.raises(ValueError, match=expected):
            layer(QUERY, VALUE, **{name: mask})


def test_attention_mask_of_another_rank_is_refused():
    with pytest.raises(
        ValueError, match="`attention_mask` must have the shape"
    ):
        ka.Attention("dot")(
            QUERY, VALUE, attention_mask=np.ones((B, 1, T, S), bool)
        )


def test_a_list_of_tensors_gets_an_error_that_shows_the_right_call():
    with pytest.raises(
        ValueError, match=r"\(query, value, \.\.\.\)|query, val"
    ):
        ka.Attention("dot")([QUERY, VALUE])


@pytest.mark.parametrize("queries", [1, 2, 4, 6])
def test_causal_mask_is_anchored_at_the_last_key(queries):
    _context, weights = ka.Attention("dot", jit_compile=False)(
        np.zeros((1, queries, D)),
        VALUE[:1],
        use_causal_mask=True,
        return_attention_scores=True,
    )
    expected = np.tri(queries, S, S - queries)
    np.testing.assert_array_equal(np.asarray(weights)[0] > 0, expected > 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", LAYERS)
def test_an_example_that_sees_nothing_has_no_gradient(kind, bad):
    """Whatever its query and its keys are."""
    mask = np.array([[1, 1, 0, 1], [0, 0, 0, 0]], bool)
    found = []
    for value in (0.0, bad):
        keras.utils.set_random_seed(0)
        layer = LAYERS[kind]()
        query, keys = QUERY.copy(), VALUE.copy()
        query[1], keys[1] = value, value
        with tf.GradientTape() as tape:
            context = layer(query, keys, value_mask=mask)
            loss = tf.reduce_sum(tf.sin(context))
        found.append([context, *tape.gradient(loss, layer.trainable_variables)])
    for clean, spoiled in zip(*found, strict=True):
        np.testing.assert_allclose(spoiled, clean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "looked_for"),
    [
        (None, False),
        ("value_mask", False),
        ("query_mask", True),
        ("attention_mask", True),
        ("use_causal_mask", True),
    ],
)
def test_nan_is_looked_for_where_some_see_what_others_do_not(
    name, looked_for, monkeypatch
):
    seen = []
    original = masks.finite
    monkeypatch.setattr(
        masks, "finite", lambda x: seen.append(x) or original(x)
    )
    call = {
        None: {},
        "value_mask": {"value_mask": np.ones((B, S), bool)},
        "query_mask": {"query_mask": np.ones((B, T), bool)},
        "attention_mask": {"attention_mask": np.ones((B, T, S), bool)},
        "use_causal_mask": {"use_causal_mask": True},
    }[name]
    ka.Attention(jit_compile=False)(QUERY, VALUE, **call)
    assert bool(seen) is looked_for


def test_shown_is_what_no_mask_hides():
    x = np.array([[[1.0, np.nan], [np.inf, 2.0]]], "float32")
    mask = np.array([[False, True]])
    shown = masks.shown(x, mask)
    np.testing.assert_array_equal(shown, [[[0, 0], [np.inf, 2]]])
    assert masks.shown(x, None) is x


def test_poison_is_where_it_is_broken_alone():
    x = np.array([[1.0], [2.0]], "float32")
    poisoned = masks.poison(x, np.array([[False], [True]]))
    np.testing.assert_array_equal(poisoned, [[1.0], [np.nan]])


def test_every_mask_may_be_missing():
    some = np.array([True, False, True])
    assert masks.every(None, None) is None
    assert masks.every(None, some) is some
    both = masks.every(some, None, np.array([True, True, False]))
    np.testing.assert_array_equal(both, [True, False, False])


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_hidden_never_leaks(kind, bad):
    layer = LAYERS[kind]()
    mask = np.array([[1, 1, 0, 1], [1, 0, 0, 1]], bool)
    expected = layer(QUERY, VALUE, value_mask=mask)
    spoiled = np.where(mask[..., None], VALUE, bad)
    np.testing.assert_allclose(
        layer(QUERY, spoiled, value_mask=mask), expected, rtol=1e-6
    )
    assert np.isnan(layer(QUERY, spoiled)).any()  # What is seen, is seen.


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(
    "name", ["query_mask", "value_mask", "attention_mask", "use_causal_mask"]
)
@pytest.mark.parametrize("broken", ["query", "value"])
def test_what_is_broken_reaches_those_that_see_it_alone(kind, name, broken):
    layer = LAYERS[kind]()
    random = np.random.default_rng(0)
    mask, visible = {
        "query_mask": lambda m: (m[:, :, 0], m[:, :, :1]),
        "value_mask": lambda m: (m[:, 0], m[:, :1]),
        "attention_mask": lambda m: (m, m),
        "use_causal_mask": lambda m: (True, np.tri(T, S, S - T)[None] > 0),
    }[name](random.random((B, T, S)) < 0.5)
    visible = np.broadcast_to(visible, (B, T, S))
    expected = np.asarray(layer(QUERY, VALUE, **{name: mask}))
    spoiled = {"query": QUERY.copy(), "value": VALUE.copy()}
    spoiled[broken][:, 2] = np.nan
    if broken == "value":
        reached = visible[:, :, 2]
    else:
        reached = visible.any(-1) & (np.arange(T) == 2)
    actual = np.asarray(layer(**spoiled, **{name: mask}))
    assert reached.any() and not reached.all()
    assert np.isnan(actual[reached]).all()
    np.testing.assert_allclose(
        actual[~reached], expected[~reached], rtol=1e-5, atol=1e-6
    )


def test_mask_of_the_queries_is_kept_and_that_of_the_caller_survives():
    embed = keras.layers.Embedding(9, D, mask_zero=True)
    x = embed(np.array([[1, 2, 0], [3, 0, 0]]))
    mask = np.asarray(x._keras_mask)
    for kind, make in LAYERS.items():
        output = make()(x, x)
        np.testing.assert_array_equal(output._keras_mask, mask), kind
        np.testing.assert_array_equal(x._keras_mask, mask)
    for pooled in (
        ka.FeedForwardAttention()(x),
        ka.SelfAttentiveEmbedding(2, 3)(x),
    ):
        assert getattr(pooled, "_keras_mask", None) is None


LARGEST = {
    "float16": 6.5e4,
    "bfloat16": 3e38,
    "float32": 3e38,
    "float64": 1e308,
}


@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_steps_are_broken_by_what_is_no_number_alone(dtype, jit_compile):
    """Not by the largest numbers, whose sum would be none."""
    nan, inf, large = np.nan, np.inf, LARGEST[dtype]
    rows = [[large] * 8, [-large] * 8, [0.0] * 8]
    for broken in ([nan], [inf], [-inf], [inf, -inf], [large, nan]):
        rows += [broken + [1.0] * (8 - len(broken))]
    x = tf.constant(rows, dtype)[None]
    finite = masks.finite
    if jit_compile is not None:
        finite = tf.function(finite, jit_compile=jit_compile)
    kept, is_broken = finite(x)
    expected = np.array([False] * 3 + [True] * 5)
    np.testing.assert_array_equal(is_broken[0], expected)
    kept = np.asarray(kept[0]).astype("float64")
    given = np.asarray(x[0]).astype("float64")
    np.testing.assert_array_equal(kept[:3], given[:3])
    assert not kept[3:].any()


@pytest.mark.parametrize("jit_compile", [None, False, True])
def test_a_broken_step_has_no_gradient_of_either_order(jit_compile):
    x = tf.constant([[[1.0, 2.0], [np.nan, 3.0], [4.0, np.inf], [5.0, 6.0]]])

    def slopes(x):
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                cubes = (masks.finite(x)[0] + 1.0) ** 3
            slope = first.gradient(cubes, x)
        return slope, second.gradient(slope, x)

    if jit_compile is not None:
        slopes = tf.function(slopes, jit_compile=jit_compile)
    of_cubes = 3 * np.square(x + 1), 6 * np.asarray(x + 1)
    for slope, expected in zip(slopes(x), of_cubes, strict=True):
        expected[0, 1:3] = 0.0
        np.testing.assert_allclose(slope, expected)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_integers_are_never_broken(jit_compile):
    x = keras.ops.ones((2, 3, 4), "int32")
    finite = tf.function(masks.finite, jit_compile=jit_compile)
    kept, is_broken = finite(x)
    np.testing.assert_array_equal(kept, x)
    assert not np.asarray(is_broken).any()
