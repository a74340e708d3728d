"""Blocks of queries, heads and examples change memory, and nothing else."""

import contextlib
import math
import subprocess
import sys
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keras_attention as ka
from keras_attention import compilation, query_blocks
from keras_attention.block_grid import Grid
from tests import mechanisms

CLOSE = {"rtol": 2e-5, "atol": 2e-5}
SIZES = [1, 2, 3, 7, 100]


@contextlib.contextmanager
def _budget(size):
    """So few bytes for a block that heads and examples are cut as well."""
    compilation._shared.clear()  # A program keeps the blocks it was made with.
    try:
        with mock.patch.multiple(query_blocks, BUDGET=size, FEWEST=1):
            yield
    finally:
        compilation._shared.clear()


@pytest.fixture
def tiny_budget():
    with _budget(64):
        yield


@contextlib.contextmanager
def _grids():
    """The grids of all loops that run meanwhile."""
    grids = []

    class Spy(Grid):
        def __init__(self, *args):
            super().__init__(*args)
            grids.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("keras_attention.block_loop.Grid", Spy)
        yield grids


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
                np.asarray(a, "float64"),
                np.asarray(b, "float64"),
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


@pytest.mark.parametrize("name", mechanisms.BLOCKED | mechanisms.ALIGNED)
def test_a_small_budget_cuts_every_axis_and_changes_no_number(name):
    layer = mechanisms.make(name, jit_compile=False)
    kind = "causal" if name in mechanisms.BLOCKED else "masked"
    call = _calls(name)[kind]
    expected = _output_and_gradients(layer, call)
    with _budget(64), _grids() as grids:
        _assert_close(_output_and_gradients(layer, call), expected)
    (grid,) = grids
    leading = [2, 2] if "head" in name else [2]
    assert grid.axes == [*leading, mechanisms.T]
    assert grid.counts[:-1] == leading


def test_blocks_of_several_heads():
    layer = mechanisms.make("multi_head", jit_compile=False)
    call = _calls("multi_head")["masked"]
    expected = _output_and_gradients(layer, call)
    with _budget(2 * 5 * 6 * 4), _grids() as grids:
        _assert_close(_output_and_gradients(layer, call), expected)
    assert [grid.sizes for grid in grids] == [[1, 2, 5]]


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


def test_compiled_blocks_of_heads():
    call = _calls("multi_head")["masked"]
    plain = mechanisms.make("multi_head", jit_compile=False)
    expected = _output_and_gradients(plain, call)
    with _budget(64), _grids() as grids:
        layer = mechanisms.make("multi_head")
        _assert_close(_output_and_gradients(layer, call), expected)
    assert all(grid.counts[:2] == [2, 2] for grid in grids) and grids


def _second_derivative(layer, call, directions):
    """Along a direction, by two tapes; and the first one, for differences."""

    def slope(query, value):
        given = {**call, "query": query, "value": value}
        with tf.GradientTape() as tape:
            tape.watch([query, value])
            loss = tf.reduce_sum(tf.sin(layer(**given)))
        gradients = tape.gradient(loss, [query, value])
        return sum(
            tf.reduce_sum(gradient * direction)
            for gradient, direction in zip(gradients, directions, strict=True)
        )

    start = [tf.constant(call["query"]), tf.constant(call["value"])]
    with tf.GradientTape() as tape:
        tape.watch(start)
        first = slope(*start)
    gradients = tape.gradient(first, start)
    second = sum(
        tf.reduce_sum(gradient * direction)
        for gradient, direction in zip(gradients, directions, strict=True)
    )
    step = 1e-5
    ends = [
        slope(
            *(
                x + sign * step * direction
                for x, direction in zip(start, directions, strict=True)
            )
        )
        for sign in (1, -1)
    ]
    return float(second), float(ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize(
    ("name", "jit_compile"),
    [
        ("values_as_keys", False),
        ("values_as_keys", True),
        ("additive", False),
        ("local_m", False),
        ("multi_head", False),
    ],
)
def test_second_order_gradients(name, jit_compile, tiny_budget):
    call = _calls(name)["masked"]
    call = {k: v for k, v in call.items() if k != "key"}
    if name != "values_as_keys":  # The key's size may differ.
        call["key"] = mechanisms.inputs("dot", dtype="float64")["key"]
    for key in ("query", "value"):
        call[key] = call[key].astype("float64")
    random = np.random.default_rng(3)
    directions = [random.normal(size=call[k].shape) for k in ("query", "value")]
    if name == "additive":
        del call["key"]
    layer = mechanisms.make(name, dtype="float64", jit_compile=jit_compile)
    second, expected = _second_derivative(layer, call, directions)
    np.testing.assert_allclose(second, expected, rtol=1e-6)


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
    with _budget(64), _grids() as grids:
        cut = mechanisms.make(name, **options)
        _assert_close(
            [_output_and_gradients(cut, call) for _ in range(2)], expected
        )
    assert len(grids) == 2


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
@pytest.mark.parametrize(
    "layer", ["additive", "local_p", "multi_head", "monotonic"]
)
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
        "monotonic": lambda size: ka.MonotonicAttention("additive"),
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
    if not jit_compile:
        with _budget(64), _grids() as grids:
            _assert_close(fitted(None, start)[1], expected)
        assert any(tf.is_tensor(grid.axes[-1]) for grid in grids)


@pytest.mark.parametrize("name", ["additive", "multi_head", "local_m"])
def test_unknown_batch_in_fit_and_predict(name):
    given = {k: v for k, v in _calls(name)["plain"].items() if k != "key"}
    layer = mechanisms.make(name, jit_compile=False)
    inputs = {k: keras.Input(v.shape[1:], name=k) for k, v in given.items()}
    if name != "additive":
        inputs["key"] = keras.Input((mechanisms.S, 4), name="key")
        given["key"] = _calls(name)["plain"]["key"]
    # Batches of 2, 2 and 1.
    given = {
        k: np.concatenate([v, v[::-1], 2 * v[:1]]) for k, v in given.items()
    }
    model = keras.Model(inputs, layer(**inputs))
    start = model.get_weights()

    def fitted():
        model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
        model.set_weights(start)
        predicted = model.predict(given, batch_size=2, verbose=0)
        target = np.zeros_like(predicted)
        model.fit(given, target, batch_size=2, shuffle=False, verbose=0)
        return predicted, model.get_weights()

    expected = fitted()
    with _budget(64), _grids() as grids:
        _assert_close(fitted(), expected)
    assert any(tf.is_tensor(grid.axes[0]) for grid in grids)


def test_unknown_batch_in_a_function_of_the_user():
    layer = mechanisms.make("multi_head", jit_compile=False)
    call = {k: tf.constant(v) for k, v in _calls("multi_head")["plain"].items()}
    spec = {
        k: tf.TensorSpec((None, *v.shape[1:]), v.dtype) for k, v in call.items()
    }
    whole = _output_and_gradients(layer, call)
    with _budget(64), _grids() as grids:
        traced = tf.function(
            lambda call: _output_and_gradients(layer, call),
            input_signature=[spec],
        )
        _assert_close(traced(call), whole)
        one = {k: v[:1] for k, v in call.items()}
        _assert_close(traced(one)[0], whole[0][:1])
    assert len(grids) == 1


# How large a block is


SHAPES = st.tuples(
    st.lists(st.integers(1, 70), max_size=2), st.integers(1, 3000)
).map(lambda shape: [*shape[0], shape[1]])
quickly = settings(max_examples=200, deadline=None, derandomize=True)


def test_blocks_of_products_hold_some_queries_beyond_the_budget():
    long = 2**16
    few = query_blocks._sizes([2, long], None, long)
    assert few == [1, query_blocks.BUDGET // 4 // long]
    some = query_blocks._sizes([2, long], None, long, query_blocks.FEWEST)
    assert some == [1, query_blocks.FEWEST]
    short = query_blocks._sizes([64, 100], None, 2**14, query_blocks.FEWEST)
    assert short == [1, 100]


@quickly
@given(axes=SHAPES, numbers=st.integers(0, 300_000))
def test_blocks_fit_the_budget_and_are_even(axes, numbers):
    room = query_blocks.BUDGET // 4
    sizes = query_blocks._sizes(axes, None, numbers)
    if math.prod(axes) * numbers <= room:
        assert sizes is None
        return
    grain = query_blocks.GRAIN
    least = [*(1 for _ in axes[1:]), min(grain, axes[-1])]
    assert math.prod(sizes) * numbers <= room or sizes == least
    grid = Grid(axes, sizes)
    assert grid.steps > 1 or sizes == least
    *leading, queries = axes
    *whole, size = sizes
    numbers *= size
    for axis, part in reversed(list(zip(leading, whole, strict=True))):
        assert axis % part == 0
        larger = [n for n in range(part + 1, axis + 1) if axis % n == 0]
        assert all(n * numbers > room for n in larger)
        numbers *= part
    count = grid.counts[-1]
    assert size == queries or (size < queries and size % grain == 0)
    # Less than a grain of padding a block, and no block of padding alone.
    assert count * size - queries < min(count * grain, size)
    if size > grain:  # Even: a grain less would be a block more.
        assert -(-queries // (size - grain)) > count


@quickly
@given(axes=SHAPES, numbers=st.integers(1, 300_000))
def test_sizes_of_unknown_lengths_are_those_of_known_ones(axes, numbers):
    known = query_blocks._fitting(axes, numbers)
    unknown = query_blocks._fitting(
        [tf.constant(axis) for axis in axes], tf.constant(numbers)
    )
    assert int(unknown[-1]) == known[-1]
    assert unknown[:-1] == [1 for _ in axes[1:]]


def test_an_unknown_batch_is_cut_example_by_example():
    """Sizes are numbers even then: XLA cannot cut by sizes it computes."""
    assert query_blocks._fitting([tf.constant(32), 4, 100], 100) == [1, 4, 100]


def test_one_query_at_a_time_is_not_padded():
    assert query_blocks._sizes([64, 1], None, 2**16) == [32, 1]
    assert query_blocks._sizes([64, 1], None, 2**30) == [1, 1]
    nothing = query_blocks._fitting([tf.constant(0), tf.constant(0)], 9)
    assert [int(size) for size in nothing] == [1, 1]


@pytest.mark.parametrize(
    ("axes", "block_size", "expected"),
    [
        ([2, 3, 10], 4, [2, 3, 4]),
        ([2, 3, 10], 10, None),
        ([2, 3, 10], 11, None),
        ([2, 3, None], 11, [2, 3, 11]),
    ],
)
def test_given_block_size_counts_queries_alone(axes, block_size, expected):
    axes = [tf.constant(10) if axis is None else axis for axis in axes]
    assert query_blocks._sizes(axes, block_size, 2**30) == expected


def test_unknown_batch_counts_as_the_usual_one():
    room = query_blocks.BUDGET // 4 * query_blocks.UNCUT
    per_example = room // query_blocks.USUAL_BATCH // 10
    axes = [tf.constant(1), 10]
    assert query_blocks._sizes(axes, None, per_example) is None
    assert query_blocks._sizes(axes, None, per_example + 1) is not None


def test_unknown_lengths_stay_whole_outside_the_trainer():
    assert query_blocks._sizes([2, tf.constant(9)], None, 2**30) is None
    assert query_blocks._sizes([2, 9], None, tf.constant(2**30)) is None


# Any shape, mask, stage, dtype, budget and block size


SCORES = [
    "dot",
    "scaled_dot",
    "bilinear",
    "additive",
    "normalized_additive",
    "cosine",
    "location",
]
ALIGNMENTS = ["softmax", "sparsemax", "sigmoid"]
FAMILIES = ["plain", "heads", "leading", "local_m", "local_p"]
TOLERANCES = {
    "float64": 1e-9,
    "float32": 1e-4,
    "mixed_bfloat16": 0.05,
    "mixed_float16": 0.01,
}
#: `query_block_size` and the budget.
BLOCKS = st.sampled_from(
    [
        *((None, budget) for budget in (64, 256, 1024, 4096)),
        *((size, query_blocks.BUDGET) for size in (1, 2, 3, 7)),
    ]
)
property_test = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def _attention_masks(family, B, H, T, S):
    if family == "heads":
        heads = [(B, H, T, S), (B, 1, T, S)]
        return [(B, S), (B, T, S), (1, T, S), (B, 1, S), *heads]
    if family == "leading":
        return [(B, H, S), (B, H, T, S), (1, H, T, S), (B, 1, T, S)]
    return [(B, S), (B, T, S), (1, T, S), (B, 1, S)]


def _leading(family, B, H):
    return (B, H) if family == "leading" else (B,)


def _draw_call(data, family, B, H, T, S, D):
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    leading = _leading(family, B, H)
    attention_mask = data.draw(
        st.sampled_from(_attention_masks(family, B, H, T, S))
    )
    call = {
        "query": random.normal(size=(*leading, T, D)),
        "value": random.normal(size=(*leading, S, D)),
        "use_causal_mask": data.draw(st.booleans()),
    }
    if data.draw(st.booleans()):
        call["key"] = random.normal(size=(*leading, S, D))
    for mask, shape in (
        ("query_mask", (*leading, T)),
        ("value_mask", (*leading, S)),
        ("attention_mask", attention_mask),
    ):
        if data.draw(st.booleans()):
            call[mask] = random.random(shape) < 0.7
    return call


def _layer(family, score, alignment, H, call, **options):
    options = {"jit_compile": False, **options}
    stages = {"score": score, "alignment": alignment}
    local = "bilinear" if score == "location" else score
    layer = {
        "plain": lambda: ka.Attention(**stages, **options),
        "leading": lambda: ka.Attention(**stages, **options),
        "heads": lambda: ka.MultiHeadAttention(H, 3, **stages, **options),
        "local_m": lambda: ka.LocalMonotonicAttention(1, local, **options),
        "local_p": lambda: ka.LocalPredictiveAttention(2, local, **options),
    }[family]()
    layer.build(call["query"].shape, call["value"].shape)
    random = np.random.default_rng(7)
    for weight in layer.weights:
        if "seed" not in weight.path:
            weight.assign(0.7 * random.normal(size=weight.shape))
    return layer


@settings(property_test, max_examples=40)
@given(
    data=st.data(),
    family=st.sampled_from(FAMILIES),
    score=st.sampled_from(SCORES),
    alignment=st.sampled_from(ALIGNMENTS),
    dtype=st.sampled_from(list(TOLERANCES)),
    blocks=BLOCKS,
)
def test_any_shape_mask_and_block(
    data, family, score, alignment, dtype, blocks
):
    B, H, T, S, D = (
        data.draw(st.sampled_from(sizes))
        for sizes in ([1, 2, 3], [1, 2, 3], [1, 3, 8, 11], [1, 2, 5, 7], [1, 3])
    )
    call = _draw_call(data, family, B, H, T, S, D)
    layer = _layer(family, score, alignment, H, call, dtype=dtype)
    plain = _output_and_gradients(layer, call)
    assert np.isfinite(np.asarray(plain[0], "float64")).all()
    size, budget = blocks
    with _budget(budget):
        blocked = _layer(
            family,
            score,
            alignment,
            H,
            call,
            dtype=dtype,
            query_block_size=size,
        )
        results = _output_and_gradients(blocked, call)
    scale = max(
        np.abs(np.asarray(x, "float64")).max(initial=1.0)
        for x in tf.nest.flatten(plain)
        if x is not None
    )
    tolerance = TOLERANCES[dtype]
    _assert_close(results, plain, rtol=tolerance, atol=tolerance * scale)


@settings(property_test, max_examples=25)
@given(
    data=st.data(),
    family=st.sampled_from(FAMILIES),
    score=st.sampled_from(SCORES),
    alignment=st.sampled_from(ALIGNMENTS),
    blocks=st.sampled_from([(None, 16), (None, 64), (1, 2**22), (2, 2**22)]),
)
def test_gradients_in_blocks_are_the_numeric_ones(
    data, family, score, alignment, blocks
):
    """Along one direction for each input and weight."""
    B, H, T, S, D = (
        data.draw(st.integers(1, most)) for most in (2, 2, 3, 3, 2)
    )
    call = _draw_call(data, family, B, H, T, S, D)
    size, budget = blocks
    options = {"dtype": "float64", "query_block_size": size}
    layer = _layer(family, score, alignment, H, call, **options)
    names = [name for name in ("query", "value", "key") if name in call]
    variables = [tf.Variable(call[name]) for name in names]
    weights = [weight.value for weight in layer.trainable_variables]

    def loss():
        given = {
            name: tf.convert_to_tensor(variable)
            for name, variable in zip(names, variables, strict=True)
        }
        return tf.reduce_sum(tf.sin(layer(**{**call, **given})))

    everything = [*variables, *weights]
    with _budget(budget):
        with tf.GradientTape() as tape:
            value = loss()
        gradients = tape.gradient(value, everything)
    random = np.random.default_rng(5)
    for variable, gradient in zip(everything, gradients, strict=True):
        start, ends = variable.numpy(), []
        direction = random.normal(size=start.shape)
        for step in (1e-6, -1e-6):
            variable.assign(start + step * direction)
            ends.append(float(loss()))
        variable.assign(start)
        actual = 0.0 if gradient is None else np.sum(gradient * direction)
        expected = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7)


# What is broken


def _masks_of(family):
    B, H, T, S = 2, 2, 5, 6
    random = np.random.default_rng(4)
    masks = {"none": {}, "causal": {"use_causal_mask": True}}
    for name, shape in (("query_mask", (B, T)), ("value_mask", (B, S))):
        masks[name] = {name: random.random(shape) < 0.6}
        masks[name][name][0, 1] = masks[name][name][1, 4] = False
    for shape in _attention_masks(family, B, H, T, S):
        mask = random.random(shape) < 0.6
        masks[f"attention_mask{shape}"] = {"attention_mask": mask}
    both = {**masks["query_mask"], **masks["value_mask"]}
    return {**masks, "both": both}


@pytest.mark.parametrize(
    ("family", "bad"),
    [
        ("plain", np.nan),
        ("plain", np.inf),
        ("heads", np.nan),
        ("local_m", np.nan),
    ],
)
def test_broken_steps_reach_the_same_places_in_blocks(family, bad):
    random = np.random.default_rng(0)
    clean = {
        "query": random.normal(size=(2, 5, 3)).astype("float32"),
        "value": random.normal(size=(2, 6, 3)).astype("float32"),
    }
    layer = _layer(family, "dot", "softmax", 2, clean)
    for kind, mask in _masks_of(family).items():
        for name, place in (("query", (0, 1)), ("value", (1, 4))):
            spoiled = {**clean, **mask, name: clean[name].copy()}
            spoiled[name][place] = bad
            hidden = not mask.get(f"{name}_mask", np.ones((2, 6), bool))[place]
            run = _output_and_gradients if hidden else _output
            plain = run(layer, spoiled)
            with _budget(64):
                blocked = run(layer, spoiled)
            _assert_close(blocked, plain)
            if hidden:
                for x in tf.nest.flatten(blocked):
                    assert np.isfinite(x).all(), kind
                _assert_close(blocked[0], layer(**{**clean, **mask}))
            elif not mask:
                assert np.isnan(blocked).any()


def _output(layer, call):
    return layer(**call)


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
