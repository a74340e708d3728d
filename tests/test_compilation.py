"""What `compilation` promises: see its docstring."""

import contextlib
import gc
import importlib
import itertools
import os
import subprocess
import sys
import threading
import weakref

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.layers import layer as keras_layer
from tensorflow.core.protobuf import saved_model_pb2

import keras_attention as ka
from keras_attention import compilation, stages
from tests import mechanisms

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def _arrays(*tensors):
    return [np.asarray(x) for x in tf.nest.flatten(tensors)]


def _assert_close(actual, expected, **tolerance):
    for a, b in zip(_arrays(actual), _arrays(expected), strict=True):
        np.testing.assert_allclose(a, b, **{**CLOSE, **tolerance})


def _output_and_gradients(layer, call):
    """The output, and the gradient of each input and weight."""
    tensors = {k: tf.constant(v) for k, v in call.items()}
    real = [x for x in tensors.values() if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(real)
        output = layer(**tensors)
        loss = tf.reduce_sum(tf.sin(output)) + sum(layer.losses)
    return output, tape.gradient(loss, [*real, *layer.trainable_variables])


@pytest.fixture
def programs_run(monkeypatch):
    """How many compiled functions the graph held, at each program run."""
    runs = []
    original = compilation._Program.__call__

    def spy(self, layer, *tensors):
        outputs = original(self, layer, *tensors)
        graph = tf.compat.v1.get_default_graph()
        runs.append(0 if tf.executing_eagerly() else _compiled_in(graph))
        return outputs

    monkeypatch.setattr(compilation._Program, "__call__", spy)
    return runs


def _compiled_in(graph):
    functions = graph.as_graph_def().library.function
    return sum(f.attr["_XlaMustCompile"].b for f in functions)


def _compiled_in_file(folder):
    """Compiled functions and calls that ask for compilation in an export."""
    model = saved_model_pb2.SavedModel()
    model.ParseFromString((folder / "saved_model.pb").read_bytes())
    graph = model.meta_graphs[0].graph_def
    assert len(graph.library.function) > 0
    nodes = list(graph.node)
    for function in graph.library.function:
        nodes += function.node_def
    holders = [*graph.library.function, *nodes]
    return [x for x in holders if x.attr["_XlaMustCompile"].b]


def _classifier(jit_compile="auto", run_eagerly=False, **kwargs):
    kwargs = {"seed": 1, **kwargs}
    x = keras.Input((5, 4))
    y = ka.BahdanauAttention(3, name="attend", **kwargs)(x, x)
    y = keras.layers.Dense(1, name="dense")(y)
    model = keras.Model(x, y)
    _compile(model, jit_compile, run_eagerly)
    return model


def _compile(model, jit_compile="auto", run_eagerly=False):
    model.compile(
        keras.optimizers.SGD(0.1),
        "mse",
        jit_compile=jit_compile,
        run_eagerly=run_eagerly,
    )


def _data():
    x = np.random.default_rng(0).normal(size=(8, 5, 4)).astype("float32")
    return x, x[..., :1] * 2


def _fit(model):
    x, y = _data()
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model


# The program


@pytest.mark.parametrize(
    "name", ["additive", "multi_head", "local_p", "structured"]
)
def test_optimised_program_exists(name):
    layer, call = mechanisms.make(name), mechanisms.inputs(name)
    text = compilation.hlo(layer, **call)
    assert text.startswith("HloModule")
    assert "ENTRY" in text


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_eager_call_is_a_program_and_equals_plain_ops(name, programs_run):
    call = {**mechanisms.inputs(name), **mechanisms.masks(name)}
    plain = mechanisms.make(name, jit_compile=False)
    expected = _output_and_gradients(plain, call)
    assert not programs_run
    compiled = mechanisms.make(name)
    _assert_close(_output_and_gradients(compiled, call), expected)
    assert programs_run == [0]


def test_weights_are_returned_by_the_program(programs_run):
    call = mechanisms.inputs("multi_head")
    call["return_attention_scores"] = True
    compiled = mechanisms.make("multi_head")(**call)
    plain = mechanisms.make("multi_head", jit_compile=False)(**call)
    _assert_close(compiled, plain)
    assert len(programs_run) == 1


# What passes through it


def test_implicit_masks():
    tokens = np.array([[1, 2, 3, 0, 0], [1, 0, 0, 0, 0]])
    embed = keras.layers.Embedding(4, 4, mask_zero=True)
    attend = ka.Attention()
    output = attend(embed(tokens), embed(tokens))
    explicit = ka.Attention(jit_compile=False)(
        np.asarray(embed(tokens)),
        np.asarray(embed(tokens)),
        query_mask=tokens > 0,
        value_mask=tokens > 0,
    )
    _assert_close(output, explicit)
    np.testing.assert_array_equal(output._keras_mask, tokens > 0)


def test_training_flag_and_seeds():
    x, _y = _data()
    compiled = ka.Attention("dot", dropout=0.5, seed=3)
    plain = ka.Attention("dot", dropout=0.5, seed=3, jit_compile=False)
    inference = plain(x, x)
    _assert_close(compiled(x, x), inference)
    _assert_close(compiled(x, x, training=False), inference)
    steps = [compiled(x, x, training=True) for _ in range(3)]
    _assert_close(steps, [plain(x, x, training=True) for _ in range(3)])
    assert not np.allclose(steps[0], steps[1])
    assert not np.allclose(steps[0], inference)


def test_losses():
    call = mechanisms.inputs("structured")
    layer = mechanisms.make("structured")
    plain = mechanisms.make("structured", jit_compile=False)
    for _ in range(2):  # Not added up over calls of one step.
        layer(**call)
        plain(**call)
    assert len(layer.losses) == len(plain.losses)
    _assert_close(layer.losses, plain.losses)


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("name", ["additive", "multi_head", "local_p"])
def test_mixed_precision(name, dtype):
    call = mechanisms.inputs(name)
    compiled = mechanisms.make(name, dtype=dtype)
    plain = mechanisms.make(name, dtype=dtype, jit_compile=False)
    output, gradients = _output_and_gradients(compiled, call)
    assert output.dtype == dtype.removeprefix("mixed_")
    assert {g.dtype for g in gradients if g is not None} == {tf.float32}
    expected = _output_and_gradients(plain, call)
    output, expected = (
        tf.cast(output, "float32"),
        tf.cast(expected[0], "float32"),
    )
    _assert_close(output, expected, rtol=0.02, atol=0.02)


# Everywhere the same numbers


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_fit_gives_the_same_weights_however_it_is_compiled(dropout, tmp_path):
    model = _classifier(dropout=dropout)
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    expected = _fit(model).get_weights()
    initial = reloaded.get_weights()
    assert not np.allclose(initial[0], expected[0])
    _assert_close(_fit(reloaded).get_weights(), expected)
    for options in ((True, False), (False, False), (False, True)):
        other = _classifier(*options, dropout=dropout)
        other.set_weights(initial)
        _assert_close(_fit(other).get_weights(), expected)
    plain = _classifier(dropout=dropout, jit_compile=False)
    plain.get_layer("attend").jit_compile = False
    plain.set_weights(initial)
    _assert_close(_fit(plain).get_weights(), expected)


def test_eager_call_equals_predict_and_a_reloaded_model(tmp_path):
    x, _y = _data()
    model = _classifier()
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    expected = model(x)
    _assert_close(model.predict(x, verbose=0), expected)
    _assert_close(reloaded(x), expected)
    _assert_close(tf.function(model)(x), expected)
    _assert_close(tf.function(model, jit_compile=True)(x), expected)


# Where it is compiled, and where it is not


def test_fit_evaluate_and_predict_hold_a_program(programs_run):
    x, y = _data()
    model = _classifier()
    assert not model.jit_compile  # Keras itself runs no XLA on a CPU.
    for run in (model.fit, model.evaluate):
        programs_run.clear()
        run(x, y, verbose=0)
        assert programs_run and programs_run[-1] >= 1
    programs_run.clear()
    model.predict(x, verbose=0)
    assert programs_run and programs_run[-1] >= 1


@pytest.mark.parametrize("steps_per_execution", [1, 2])
def test_a_compiled_trainer_holds_none(programs_run, steps_per_execution):
    """A program in a compiled step would be compiled again at each step."""
    x, y = _data()
    model = _classifier()
    model.compile(
        "sgd", "mse", jit_compile=True, steps_per_execution=steps_per_execution
    )
    model.fit(x, y, batch_size=2, verbose=0)
    model.evaluate(x, y, batch_size=2, verbose=0)
    model.predict(x, batch_size=2, verbose=0)
    model.train_on_batch(x, y)
    assert not programs_run
    model.compile("sgd", "mse", jit_compile=False)
    model.train_on_batch(x, y)
    assert programs_run


COMPILATIONS = """
import pathlib, sys
import numpy as np
import keras
import keras_attention as ka

inputs = keras.Input((5, 4))
states = ka.BahdanauAttention(3)(inputs, inputs)
states = ka.MultiHeadAttention(2, 3)(states, inputs)
model = keras.Model(inputs, states)
model.compile("sgd", "mse", jit_compile=True)
x = np.ones((2, 5, 4), "float32")
for step in range(4):
    model.train_on_batch(x, x)
    dumped = pathlib.Path(sys.argv[1]).glob("*after_optimizations.txt")
    print("COMPILED", len(list(dumped)))
"""


def test_a_compiled_trainer_compiles_once(tmp_path):
    """XLA writes down each program that it makes."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILATIONS, tmp_path],
        env={
            **os.environ,
            "XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [x for x in lines if "COMPILED" in x] == ["COMPILED 1"] * 4


def _gradients_in_fit(model):
    """The shapes of the gradients that the layer's program makes."""
    compilation._shared.clear()
    x = np.ones((4, 5, 4), "float32")
    model.train_on_batch(x, x)
    (program,) = compilation._shared.values()
    (by_inputs,) = program._compiled.values()
    (function,) = by_inputs.values()
    return sorted(tuple(x.shape) for x in function._backward._program.outputs)


def test_fit_makes_no_gradient_of_the_data():
    """Nothing asks for it, and XLA would have to make it all the same."""
    x = keras.Input((5, 4))
    of_data = keras.Model(x, ka.LuongAttention("general")(x, x))
    y = keras.layers.Dense(4)(x)
    of_layer = keras.Model(x, ka.LuongAttention("general")(y, y))
    for model in (of_data, of_layer):
        _compile(model)
    assert _gradients_in_fit(of_data) == [(4, 4)]
    assert _gradients_in_fit(of_layer) == [(4, 4), (4, 5, 4), (4, 5, 4)]


@pytest.mark.parametrize("watched", [(), ("query",), ("value",), "both"])
def test_gradients_by_the_inputs_that_are_watched(watched):
    x, _y = _data()
    tensors = {"query": tf.constant(x), "value": tf.constant(x[:, :3])}
    watched = tuple(tensors) if watched == "both" else watched
    layer = ka.LuongAttention("general")
    layer.build(x.shape, x.shape)
    found = []
    for compiled in (True, False):
        layer.jit_compile = compiled
        with tf.GradientTape() as tape:
            tape.watch([tensors[name] for name in watched])
            loss = tf.reduce_sum(tf.sin(layer(**tensors)))
        sources = [*(tensors[name] for name in watched), layer.score.W.value]
        found.append([loss, *tape.gradient(loss, sources)])
    assert len(found[0]) == len(watched) + 2
    _assert_close(*found)


def test_a_variable_is_read_as_a_tensor_is():
    """At each call; with and without a tape, whichever was compiled first."""
    x, _y = _data()
    layer = ka.LuongAttention("general")
    for first, second in itertools.permutations((tf.constant, tf.Variable)):
        compilation._shared.clear()
        expected = layer(first(x), first(x))
        given = second(x)
        _assert_close(layer(given, given), expected)
        with tf.GradientTape() as tape:
            tape.watch(given)
            output = layer(given, given)
        assert tape.gradient(output, given) is not None
        _assert_close(output, expected)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        (3, {"nonsense": 1}, "nonsense"),
        (2, {"value": 1}, "value"),
        (11, {}, "too many positional"),
    ],
)
def test_wrong_arguments_are_told(args, kwargs, said):
    x = tf.ones((2, 3, 4))
    with pytest.raises(TypeError, match=said):
        ka.Attention().call(*[x] * args, **kwargs)


def test_keras_is_not_asked_about_settings(monkeypatch):
    """Whether `training` is a tensor takes it longer to tell than to bind."""
    asked = []
    original = keras_layer.is_backend_tensor_or_symbolic

    def spy(x, *args, **kwargs):
        asked.append(x)
        return original(x, *args, **kwargs)

    layer, query = ka.Attention("dot"), tf.ones((1, 2, 3))
    layer(query, query)
    module = "keras.src.layers.layer.is_backend_tensor_or_symbolic"
    monkeypatch.setattr(module, spy)
    layer(query, query)
    assert any(x is query for x in asked)
    assert not any(isinstance(x, bool) for x in asked)
    # Of the tensors `key` and three masks; none of `training`.
    assert sum(x is None for x in asked) == 4


def test_settings_of_an_outer_layer_and_of_the_call_arrive():
    """Though they have no default while Keras binds them."""
    seen = []

    class Attention(ka.Attention):
        def call(
            self, query, value, key=None, training=None, use_causal_mask=True
        ):
            seen.append((training, use_causal_mask))
            return super().call(query, value)

    query = tf.ones((1, 2, 3))
    attend = Attention("dot", jit_compile=False)
    inputs = keras.Input((2, 3))
    model = keras.Model(inputs, attend(inputs, inputs))
    seen.clear()
    model(query, training=True)
    attend(query, query, training=False, use_causal_mask=False)
    attend(query, query)
    assert seen[0] == (True, True)
    assert seen[1] == (False, False)
    assert not seen[2][0] and seen[2][1]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_weights_reach_a_program_as_they_are_kept(monkeypatch, is_recorded):
    """Not in half precision: each would be cast by an operation of its own."""
    dtypes = []
    original = compilation.compiled

    def spy(function, given, wanted):
        dtypes.append([x.dtype for x in given])
        return original(function, given, wanted)

    monkeypatch.setattr(compilation, "compiled", spy)
    compilation._shared.clear()
    layer = ka.LuongAttention("general", dtype="mixed_bfloat16")
    query = tf.ones((1, 2, 3))
    with tf.GradientTape() if is_recorded else contextlib.nullcontext() as tape:
        output = layer(query, query)
    assert output.dtype == tf.bfloat16
    if is_recorded:
        gradient = tape.gradient(output, layer.trainable_variables[0].value)
        assert gradient.dtype == tf.float32
    count = len(layer.variables)
    assert not {tf.bfloat16} & set(dtypes[0][:count])
    assert set(dtypes[0][count:]) == {tf.bfloat16}


def test_an_assigned_weight_is_seen_by_the_next_call():
    x, _y = _data()
    layer = ka.LuongAttention("general")
    before = layer(x, x)
    layer.score.W.assign(-2.0 * layer.score.W)
    plain = ka.LuongAttention("general", jit_compile=False)
    plain.build(x.shape, x.shape)
    plain.set_weights(layer.get_weights())
    after = layer(x, x)
    _assert_close(after, plain(x, x))
    assert np.abs(after - before).max() > 1e-3


def test_forward_mode_gradients_beside_a_tape():
    """An input that only an accumulator watches."""
    x, _y = _data()
    x, tangent = tf.constant(x), tf.constant(np.cos(x))
    layer = ka.LuongAttention("general")
    layer.build(x.shape, x.shape)
    found = []
    for compiled in (True, False):
        layer.jit_compile = compiled
        with (
            tf.GradientTape(),
            tf.autodiff.ForwardAccumulator(x, tangent) as accumulator,
        ):
            output = layer(x, x)
        found.append([output, accumulator.jvp(output)])
    _assert_close(*found)


@pytest.mark.slow
def test_unknown_length_is_plain_ops_in_the_trainer(programs_run):
    x, _y = _data()
    batches = [x, x[:, :3]]
    contexts = [ka.Attention(jit_compile=False)(z, z) for z in batches]
    errors = [
        np.mean((context - z) ** 2)
        for context, z in zip(contexts, batches, strict=True)
    ]
    inputs = keras.Input((None, 4))
    model = keras.Model(inputs, ka.Attention()(inputs, inputs))
    model.compile(loss=lambda y, z: keras.ops.mean((y - z) ** 2, axis=(1, 2)))
    spec = tf.TensorSpec((None, None, 4))
    data = tf.data.Dataset.from_generator(
        lambda: ((z, z) for z in batches), output_signature=(spec, spec)
    ).apply(tf.data.experimental.assert_cardinality(2))
    error = model.evaluate(data, verbose=0)
    _assert_close(error, np.mean(errors))
    assert not programs_run


def test_function_of_the_user_holds_none(programs_run):
    layer = mechanisms.make("multi_head")
    call = mechanisms.inputs("multi_head")
    traced = tf.function(lambda call: layer(**call)).get_concrete_function(call)
    assert _compiled_in(traced.graph) == 0
    assert not programs_run


@pytest.mark.parametrize("name", ["multi_head", "local_p", "structured"])
def test_export_holds_none(name, tmp_path):
    layer = mechanisms.make(name)
    shapes = mechanisms.MECHANISMS[name][1]
    given = {k: keras.Input(shape[1:], name=k) for k, shape in shapes.items()}
    model = keras.Model(given, layer(**given))
    model.export(tmp_path / "export", verbose=False)
    assert not _compiled_in_file(tmp_path / "export")
    call = mechanisms.inputs(name)
    loaded = tf.saved_model.load(tmp_path / "export")
    _assert_close(loaded.serve(call), layer(**call))


def test_export_from_a_callback_of_fit_holds_none(tmp_path):
    class Export(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.export(tmp_path / "export", verbose=False)

    x, y = _data()
    _classifier().fit(x, y, verbose=0, callbacks=[Export()])
    assert not _compiled_in_file(tmp_path / "export")


def test_names_of_the_trainer_still_exist():
    trainer = importlib.import_module(compilation.TRAINER)
    assert hasattr(trainer, "TensorFlowTrainer")
    importlib.import_module(compilation.TRACING)
    assert tf.function(lambda: 0).__class__.__module__.startswith(
        compilation.TRACING
    )


def test_global_switch(programs_run):
    x, _y = _data()
    expected = ka.Attention()(x, x)
    assert programs_run
    programs_run.clear()
    compilation.set_jit_compile(False)
    try:
        _assert_close(ka.Attention()(x, x), expected)
        assert not programs_run
    finally:
        compilation.set_jit_compile(True)
    ka.Attention()(x, x)
    assert programs_run


def test_switch_of_a_layer(programs_run):
    x, _y = _data()
    layer = ka.Attention(jit_compile=False)
    layer(x, x)
    assert not programs_run
    assert layer.get_config()["jit_compile"] is False
    layer.jit_compile = True
    layer(x, x)
    assert programs_run


# Attributes and sharing


def test_attributes_changed_after_the_first_call_are_seen():
    x, _y = _data()
    layer = ka.Attention("dot", dropout=0.9)
    dropped = layer(x, x, training=True)
    layer.dropout = 0.0
    _assert_close(layer(x, x, training=True), layer(x, x))
    assert not np.allclose(dropped, layer(x, x))

    cosine = ka.Attention(ka.CosineScore(1.0))
    local = ka.LocalMonotonicAttention(1, score="dot")
    first = cosine(x, x), local(x, x)
    cosine.score.scale = cosine.score.beta = 5.0
    local.radius = 2
    second = cosine(x, x), local(x, x)
    _assert_close(second[0], ka.Attention(ka.CosineScore(5.0))(x, x))
    _assert_close(second[1], ka.LocalMonotonicAttention(2, score="dot")(x, x))
    assert not np.allclose(first[0], second[0])
    assert not np.allclose(first[1], second[1])


def test_equal_layers_share_programs_and_keep_their_weights():
    x, _y = _data()
    layers = [ka.BahdanauAttention(7, name=f"attend_{i}") for i in range(3)]
    layers[0](x, x)
    count = len(compilation._shared)
    outputs = [layer(x, x) for layer in layers]
    assert len(compilation._shared) == count
    for layer, output in zip(layers, outputs, strict=True):
        layer.jit_compile = False
        _assert_close(layer(x, x), output)
    assert not np.allclose(outputs[0], outputs[1])


def test_different_layers_share_none():
    """Two classes may inherit one `call` and have equal configs."""
    scores = np.array([[[0.4, 0.2, -3.0]]], "float32")
    expected = np.array([[[0.6, 0.4, 0.0]]])
    _assert_close(ka.SparsemaxAlignment()(scores), expected)
    _assert_close(ka.SigmoidAlignment()(scores), 1 / (1 + np.exp(-scores)))
    x, _y = _data()
    dots = ka.DotScore()(x, x)
    _assert_close(ka.ScaledDotScore()(x, x), dots / 2)


class _SecretScore(stages.Score):
    """A user's stage; its config does not tell all."""

    def __init__(self, secret, **kwargs):
        super().__init__(**kwargs)
        self._secret = secret

    def get_config(self):
        return keras.Layer.get_config(self)

    def compare(self, query, key):
        return self._secret * keras.ops.matmul(
            query, keras.ops.swapaxes(key, -1, -2)
        )


def test_layers_of_others_share_none():
    x, _y = _data()
    for secret in (0.0, 1.0):
        layer = ka.Attention(_SecretScore(secret))
        expected = ka.Attention("dot", jit_compile=False)(x * secret, x)
        _assert_close(layer(x, x), expected)


def test_later_signatures_run_as_plain_ops(monkeypatch, programs_run):
    monkeypatch.setattr(compilation, "MAX_SIGNATURES", 2)
    x, _y = _data()
    layer, plain = ka.BahdanauAttention(11), ka.BahdanauAttention(11)
    plain.jit_compile = False
    for steps in (1, 2, 3, 4, 1):
        z = x[:, :steps]
        output = layer(z, z)
        if not plain.built:
            plain(z, z)
        plain.set_weights(layer.get_weights())
        _assert_close(output, plain(z, z))
    assert len(programs_run) == 3  # Lengths 1, 2 and 1 again.


# What it keeps, and threads


@pytest.mark.parametrize("score", ["additive", "foreign"])
def test_layers_that_are_dropped_are_freed(score):
    x, _y = _data()

    def use():
        layer = ka.Attention(_SecretScore(2.0) if score == "foreign" else score)
        with tf.GradientTape() as tape:
            output = layer(x, x, training=True)
        tape.gradient(output, layer.trainable_variables)
        return weakref.ref(layer)

    layers = [use() for _ in range(30 if score == "additive" else 3)]
    gc.collect()
    assert [ref for ref in layers if ref() is not None] == []
    assert len(compilation._own) == 0


def test_threads_may_call_equal_layers_at_once():
    x, _y = _data()
    layers = [ka.BahdanauAttention(13, dropout=0.3, seed=i) for i in range(4)]
    plain = [ka.BahdanauAttention(13, dropout=0.3, seed=i) for i in range(4)]
    for layer, copy in zip(layers, plain, strict=True):
        for one in (layer, copy):
            one.build(x.shape, x.shape)
        copy.set_weights(layer.get_weights())
        copy.jit_compile = False
    results = [[] for _ in layers]

    def work(layer, result):
        for steps in (5, 4, 3, 5):
            z = x[:, :steps]
            result.append(np.asarray(layer(z, z, training=True)))

    threads = [
        threading.Thread(target=work, args=pair)
        for pair in zip(layers, results, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [[] for _ in layers]
    for copy, result in zip(plain, expected, strict=True):
        work(copy, result)
    _assert_close(results, expected)
