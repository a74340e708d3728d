"""Faults that users of other packages met; each test names the right value."""

import subprocess
import sys
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops

import keras_attention as ka

ALL_SCORES = ["dot", "scaled_dot", "general", "concat", "cosine"]


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def array(x: Any) -> np.ndarray:
    return np.asarray(ops.convert_to_numpy(x))


# Masks


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_all_keys_hidden_with_large_negative_scores(dtype: str) -> None:
    query, value = np.full((1, 2, 4), 8.0), np.full((1, 3, 4), -8.0)
    hidden = np.zeros((1, 3), bool)
    context, weights = ka.Attention("dot", dtype=dtype)(
        query, value, value_mask=hidden, return_attention_scores=True
    )
    assert not array(ops.cast(weights, "float32")).any()
    assert not array(ops.cast(context, "float32")).any()


def test_other_examples_are_bit_identical_beside_an_empty_one() -> None:
    layer, query, value = ka.Attention(), normal(2, 2, 4), normal(2, 3, 4)
    mask = np.array([[1, 1, 0], [0, 0, 0]], bool)
    with_empty = array(layer(query, value, value_mask=mask))
    mask[1] = True
    without = array(layer(query, value, value_mask=mask))
    np.testing.assert_array_equal(with_empty[0], without[0])


def test_real_queries_give_padded_keys_nothing() -> None:
    x = np.array([[[0.5, 0.2], [0.4, 0.9], [7, 7]]], "float32")
    mask = np.array([[True, True, False]])
    _, weights = ka.Attention("dot")(
        x, x, value_mask=mask, return_attention_scores=True
    )
    right = [0.4775, 0.5225, 0.0]
    np.testing.assert_allclose(weights[0, 0], right, atol=1e-4)
    np.testing.assert_allclose(ops.sum(weights, -1), [[1, 1, 1]], atol=1e-6)


@pytest.mark.parametrize("queries", [1, 2, 5])
@pytest.mark.parametrize("build", [ka.Attention, ka.BahdanauAttention])
def test_the_last_queries_of_a_causal_pass(build: Any, queries: int) -> None:
    layer, x = build(), normal(1, 5, 4)
    full = array(layer(x, x, use_causal_mask=True))
    last = array(layer(x[:, -queries:], x, use_causal_mask=True))
    np.testing.assert_allclose(last, full[:, -queries:], atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_mask_comes_before_the_softmax(dtype: str) -> None:
    scores = np.array([[[50.0, -50.0, -50.0]]])
    visible = np.array([[[False, True, True]]])
    weights = ka.SoftmaxAlignment(dtype=dtype)(scores, visible)
    np.testing.assert_array_equal(weights, [[[0, 0.5, 0.5]]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_key_hidden_by_every_mask_at_once(dtype: str) -> None:
    x = normal(1, 3, 4)
    hidden = np.array([[True, True, False]])
    _, weights = ka.LocalMonotonicAttention(radius=1, dtype=dtype)(
        x,
        x,
        value_mask=hidden,
        attention_mask=np.repeat(hidden[:, None], 3, 1),
        use_causal_mask=True,
        return_attention_scores=True,
    )
    weights = array(ops.cast(weights, "float32"))
    assert not weights[..., 2].any()
    np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-2)


def test_explicit_mask_inside_a_function() -> None:
    tf = pytest.importorskip("tensorflow")
    layer, x = ka.Attention(), normal(1, 3, 4)
    mask = np.array([[True, True, False]])
    inside = tf.function(lambda x, m: layer(x, x, value_mask=m))(x, mask)
    outside = layer(x, x, value_mask=mask)
    np.testing.assert_allclose(inside, outside, atol=1e-6)


def test_a_residual_keeps_the_mask() -> None:
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 4, mask_zero=True)(ids)
    x = keras.layers.Add()([x, ka.Attention()(x, x)])
    model = keras.Model(ids, keras.layers.GlobalAveragePooling1D()(x))
    short, long = np.array([[1, 2, 3]]), np.array([[1, 2, 3, 0, 0]])
    np.testing.assert_allclose(model(short), model(long), atol=1e-6)


def test_an_empty_sentence_has_no_weight_in_its_document() -> None:
    ids = np.array([[[1, 2, 0, 0, 0], [0, 0, 0, 0, 0]]])
    embed = keras.layers.Embedding(9, 4)
    words, sentences = ka.FeedForwardAttention(), ka.FeedForwardAttention()

    def document(ids: np.ndarray) -> tuple[Any, Any]:
        vectors = ops.stack(
            [words(embed(s), mask=s != 0) for s in np.swapaxes(ids, 0, 1)], 1
        )
        return sentences(
            vectors, mask=(ids != 0).any(-1), return_attention_scores=True
        )

    both, weights = document(ids)
    one, _ = document(ids[:, :1])
    np.testing.assert_array_equal(weights, [[1.0, 0.0]])
    np.testing.assert_allclose(both, one, atol=1e-6)


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="SavedModel"
)
def test_an_exported_model_computes_its_mask(tmp_path: Any) -> None:
    import tensorflow as tf

    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 4, mask_zero=True)(ids)
    model = keras.Model(ids, ka.FeedForwardAttention()(x))
    model.export(str(tmp_path / "model"), verbose=False)
    served = tf.saved_model.load(str(tmp_path / "model"))
    padded = np.array([[1, 2, 3, 0, 0]], "int32")
    right = model(padded[:, :3])
    np.testing.assert_allclose(served.serve(padded), right, atol=1e-6)


# Precision


def test_flat_scores_over_many_steps_in_bfloat16() -> None:
    query, value = normal(1, 1, 8) * 1e-3, normal(1, 4096, 8)
    low, weights = ka.Attention(dtype="bfloat16")(
        query, value, return_attention_scores=True
    )
    weights = array(ops.cast(weights, "float32"))
    assert abs(weights.sum() - 1) < 1e-2
    right = ka.Attention()(query, value)
    np.testing.assert_allclose(ops.cast(low, "float32"), right, atol=1e-2)


def test_a_penalty_is_a_float32_scalar_in_half_precision() -> None:
    layer = ka.SelfAttentiveEmbedding(2, 3, 1.0, dtype="mixed_float16")
    layer(normal(2, 5, 4))
    (loss,) = layer.losses
    assert keras.backend.standardize_dtype(loss.dtype) == "float32"
    assert loss.shape == ()


# Shapes and calls


@pytest.mark.parametrize("score", ALL_SCORES)
def test_one_model_takes_all_lengths(score: str) -> None:
    x = keras.Input((None, 4))
    model = keras.Model(x, ka.Attention(score)(x, x))
    for steps in (1, 7, 200):
        assert model(normal(1, steps, 4)).shape == (1, steps, 4)


@pytest.mark.parametrize("steps", [3, 9])
def test_encoder_and_decoder_differ_in_length(steps: int) -> None:
    _, weights = ka.BahdanauAttention()(
        normal(2, steps, 4), normal(2, 5, 6), return_attention_scores=True
    )
    assert weights.shape == (2, steps, 5)


def test_ragged_inputs_are_told_what_to_do() -> None:
    tf = pytest.importorskip("tensorflow")
    ragged = tf.ragged.constant([[[1.0], [2.0]], [[3.0]]], ragged_rank=1)
    with pytest.raises((ValueError, TypeError), match="to_tensor|dense"):
        ka.FeedForwardAttention()(ragged)


def test_in_a_sequential_model() -> None:
    model = keras.Sequential(
        [
            keras.Input((None, 4)),
            ka.FeedForwardAttention(),
            keras.layers.Dense(1),
        ]
    )
    assert model(normal(2, 5, 4)).shape == (2, 1)


def test_keywords_equal_positions() -> None:
    layer, query, value = ka.Attention(), normal(1, 2, 4), normal(1, 3, 4)
    np.testing.assert_array_equal(
        layer(query=query, value=value), layer(query, value)
    )
    for together in ([query, value], (query, value)):
        with pytest.raises(ValueError, match=r"\(query, value"):
            layer(together)


def test_the_mean_of_dropped_outputs_is_the_output() -> None:
    layer = ka.Attention(dropout=0.5, seed=1)
    query, value = np.zeros((4000, 1, 4), "float32"), normal(1, 3, 4)
    value = np.repeat(value, len(query), 0)
    mask = np.repeat([[True, True, False]], len(query), 0)
    right = array(layer(query, value, value_mask=mask))
    dropped = array(layer(query, value, value_mask=mask, training=True))
    np.testing.assert_allclose(dropped.mean(0), right[0], atol=0.1)
    hidden = value.copy()
    hidden[:, 2] = 1e6
    again = ka.Attention(dropout=0.5, seed=1)
    again(query, value)
    found = again(query, hidden, value_mask=mask, training=True)
    np.testing.assert_array_equal(found, dropped)


# Losses


@pytest.mark.parametrize("batch", [1, 3])
def test_penalty_of_two_equal_hops(batch: int) -> None:
    layer = ka.SelfAttentiveEmbedding(hops=2, units=3, penalty=1.0)
    # One step: both hops weigh it by 1, and A A^T - I = [[0, 1], [1, 0]].
    layer(normal(batch, 1, 4))
    np.testing.assert_allclose(layer.losses, [2.0], atol=1e-6)


def test_a_shared_layer_counts_its_penalty_per_call() -> None:
    x = keras.Input((5, 4))
    layer = ka.SelfAttentiveEmbedding(2, 3, penalty=1.0)
    inner = keras.Model(x, layer(x))
    outer = keras.Model(x, [inner(x), inner(x)])
    values = normal(2, 5, 4)
    inner(values)
    once = float(sum(inner.losses))
    outer(values)
    np.testing.assert_allclose(float(sum(outer.losses)), 2 * once, rtol=1e-5)


# As in the paper


def test_additive_score_has_its_three_weights_and_no_bias() -> None:
    score, query, key = ka.AdditiveScore(3), normal(1, 2, 4), normal(1, 5, 6)
    found = score(query, key)
    W, U, v = score.get_weights()
    hidden = np.tanh((query @ W)[:, :, None] + (key @ U)[:, None])
    np.testing.assert_allclose(found, (hidden @ v)[..., 0], atol=1e-5)


def test_predicted_window_is_not_normalised_again() -> None:
    layer = ka.LocalPredictiveAttention(radius=2, score="dot")
    query, value = np.zeros((1, 1, 4), "float32"), normal(1, 10, 4)
    # A query of zeros predicts p = 10 sigmoid(0) = 5, and flat scores.
    _, weights = layer(query, value, return_attention_scores=True)
    right = [0, 0, 0, 0.0271, 0.1213, 0.2, 0.1213, 0.0271, 0, 0]
    np.testing.assert_allclose(weights[0, 0], right, atol=1e-4)


def test_a_pooled_context_is_summed() -> None:
    assert ka.FeedForwardAttention()(normal(2, 5, 4)).shape == (2, 4)


def test_the_squeezed_width_is_at_least_one() -> None:
    layer = ka.SequenceSqueezeExcitation(ratio=16)
    layer(normal(1, 3, 8))
    assert [w.shape for w in layer.weights] == [(8, 1), (1, 8)]


def test_heads_need_not_divide_the_size() -> None:
    layer = ka.MultiHeadAttention(num_heads=3, key_dim=5)
    assert layer(normal(1, 2, 7), normal(1, 4, 6)).shape == (1, 2, 7)


def test_a_penalty_reaches_a_training_loop_of_ones_own() -> None:
    tf = pytest.importorskip("tensorflow", reason="needs GradientTape")
    layer, x = ka.SelfAttentiveEmbedding(2, 4, penalty=1.0), normal(3, 5, 4)
    sequence = keras.Input((None, 4))
    model = keras.Model(sequence, layer(sequence))

    def gradient_of_V(with_losses: bool) -> np.ndarray:
        with tf.GradientTape() as tape:
            loss = ops.mean(model(x))
            loss = loss + sum(model.losses) if with_losses else loss
        return array(tape.gradient(loss, layer.V.value))

    difference = gradient_of_V(True) - gradient_of_V(False)
    assert np.abs(difference).max() > 1e-3


@pytest.mark.parametrize("jit_compile", [True, "auto"])
def test_recurrent_layers_around_attention(jit_compile: bool | str) -> None:
    source = keras.Input((5, 4))
    states = keras.layers.LSTM(4, return_sequences=True)(source)
    context = ka.BahdanauAttention(4)(states, states)
    model = keras.Model(source, keras.layers.LSTM(2)(context))
    model.compile("sgd", "mse", jit_compile=jit_compile)
    history = model.fit(normal(4, 5, 4), normal(4, 2), verbose=0)
    assert np.isfinite(history.history["loss"]).all()


def test_loading_without_the_import_names_the_package(tmp_path: Any) -> None:
    x = keras.Input((3, 4))
    model = keras.Model(x, ka.BahdanauAttention(4)(x, x))
    model.save(tmp_path / "model.keras")
    load = "import keras; keras.models.load_model('model.keras')"
    done = subprocess.run(
        [sys.executable, "-c", load],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "keras_attention>BahdanauAttention" in done.stderr


def test_a_causal_model_of_unknown_length_in_litert(tmp_path: Any) -> None:
    pytest.importorskip("ai_edge_litert", reason="needs the extra `onnx`")
    import tensorflow as tf
    from ai_edge_litert.interpreter import Interpreter

    x = keras.Input((None, 8))
    layer = ka.MultiHeadAttention(2, 4)
    model = keras.Model(x, layer(x, x, use_causal_mask=True))
    model.export(tmp_path / "saved", verbose=False)
    converter = tf.lite.TFLiteConverter.from_saved_model(
        str(tmp_path / "saved")
    )
    interpreter = Interpreter(model_content=converter.convert())
    inputs, right = interpreter.get_input_details()[0], normal(1, 5, 8)
    interpreter.resize_tensor_input(inputs["index"], right.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(inputs["index"], right)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_allclose(found, array(model(right)), atol=1e-5)
