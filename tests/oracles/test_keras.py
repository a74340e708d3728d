"""Keras's own layers, run on the same weights."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_attention as ka

B, T, S, D = 2, 3, 5, 6
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def _tensor(*shape):
    return tf.constant(np.random.randn(*shape).astype("float32"))


def _masks():
    """At least one visible key for every query: there Keras is right."""
    attention_mask = np.random.rand(B, T, S) < 0.6
    attention_mask[..., 0] = True
    return {
        "none": {},
        "keys": {"value_mask": np.arange(S) < np.array([[3], [5]])},
        "pairs": {"attention_mask": attention_mask},
        "both": {
            "value_mask": np.arange(S) < np.array([[3], [5]]),
            "attention_mask": attention_mask,
        },
    }


def _heads(value_dim=None, output_dim=None, use_bias=True, **shapes):
    """Our layer and Keras's, with the same random weights."""
    ours = ka.MultiHeadAttention(
        2, 4, value_dim, output_dim, use_bias=use_bias, jit_compile=False
    )
    theirs = keras.layers.MultiHeadAttention(
        2, 4, value_dim, output_shape=output_dim, use_bias=use_bias
    )
    for layer in (ours, theirs):
        layer.build(**shapes)
    weights = [np.random.randn(*w.shape) * 0.5 for w in theirs.weights]
    theirs.set_weights(weights)
    ours.set_weights(theirs.get_weights())
    return ours, theirs


def _gradients(layer, inputs, **kwargs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        output = layer(*inputs, **kwargs)
        loss = tf.reduce_sum(tf.sin(output))
    return tape.gradient(loss, [*inputs, *layer.trainable_variables])


def _assert_close(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


@pytest.mark.parametrize(
    "value_dim, output_dim, use_bias",
    list(itertools.product((None, 3), (None, 5), (True, False))),
)
def test_multi_head_attention(value_dim, output_dim, use_bias):
    query, value, key = _tensor(B, T, D), _tensor(B, S, 4), _tensor(B, S, 7)
    ours, theirs = _heads(
        value_dim,
        output_dim,
        use_bias,
        query_shape=query.shape,
        value_shape=value.shape,
        key_shape=key.shape,
    )
    inputs = [query, value, key]
    for mask in _masks().values():
        np.testing.assert_allclose(
            ours(*inputs, **mask), theirs(*inputs, **mask), **CLOSE
        )
        _assert_close(
            ours(*inputs, **mask, return_attention_scores=True),
            theirs(*inputs, **mask, return_attention_scores=True),
        )
        _assert_close(
            _gradients(ours, inputs, **mask), _gradients(theirs, inputs, **mask)
        )


def test_multi_head_attention_causal_on_one_sequence():
    x = _tensor(B, S, D)
    ours, theirs = _heads(query_shape=x.shape, value_shape=x.shape)
    causal = {"use_causal_mask": True}
    _assert_close(
        ours(x, x, **causal, return_attention_scores=True),
        theirs(x, x, **causal, return_attention_scores=True),
    )
    _assert_close(
        _gradients(ours, [x, x], **causal), _gradients(theirs, [x, x], **causal)
    )


def test_multi_head_attention_in_default_blocks_and_compiled():
    x = _tensor(B, S, D)
    ours, theirs = _heads(query_shape=x.shape, value_shape=x.shape)
    ours.jit_compile = True
    np.testing.assert_allclose(ours(x, x), theirs(x, x), **CLOSE)
    _assert_close(_gradients(ours, [x, x]), _gradients(theirs, [x, x]))


def test_keras_averages_padding_where_we_give_zeros():
    """The one place, with the causal anchor, where Keras is not followed."""
    x = _tensor(B, T, D)
    ours, theirs = _heads(query_shape=x.shape, value_shape=x.shape)
    hidden = {"attention_mask": np.zeros((B, T, T), bool)}
    _output, weights = ours(x, x, **hidden, return_attention_scores=True)
    np.testing.assert_array_equal(weights, np.zeros((B, 2, T, T)))
    bias_alone = np.broadcast_to(ours.b_O, (B, T, D))
    np.testing.assert_allclose(ours(x, x, **hidden), bias_alone)
    assert not np.allclose(theirs(x, x, **hidden), bias_alone)


def test_keras_anchors_the_causal_mask_at_the_first_key():
    query, value = _tensor(B, 2, D), _tensor(B, S, D)
    ours, theirs = _heads(query_shape=query.shape, value_shape=value.shape)
    causal = {"use_causal_mask": True, "return_attention_scores": True}
    _output, weights = ours(query, value, **causal)
    visible = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], bool)
    np.testing.assert_array_equal(
        np.asarray(weights) > 0, np.broadcast_to(visible, weights.shape)
    )
    _output, their_weights = theirs(query, value, **causal)
    assert np.asarray(their_weights)[0, 0, 0, 1] == 0.0


@pytest.mark.parametrize("mask", ["none", "keys"])
def test_dot(mask):
    query, value, key = _tensor(B, T, D), _tensor(B, S, 4), _tensor(B, S, D)
    value_mask = _masks()[mask].get("value_mask")
    ours = ka.Attention("dot", jit_compile=False)
    theirs = keras.layers.Attention()
    _assert_close(
        ours(
            query,
            value,
            key,
            value_mask=value_mask,
            return_attention_scores=True,
        ),
        theirs(
            [query, value, key],
            mask=[None, value_mask],
            return_attention_scores=True,
        ),
    )


def test_causal_dot_on_one_sequence():
    x = _tensor(B, S, D)
    _assert_close(
        ka.Attention("dot")(
            x, x, use_causal_mask=True, return_attention_scores=True
        ),
        keras.layers.Attention()(
            [x, x], use_causal_mask=True, return_attention_scores=True
        ),
    )


@pytest.mark.parametrize("mask", ["none", "keys"])
def test_bahdanau_is_dense_layers_before_additive_attention(mask):
    query, value = _tensor(B, T, D), _tensor(B, S, 4)
    value_mask = _masks()[mask].get("value_mask")
    ours = ka.BahdanauAttention(units=7)
    context, weights = ours(
        query, value, value_mask=value_mask, return_attention_scores=True
    )
    score = ours.score
    inputs = [query @ score.W, value, value @ score.U]
    theirs = keras.layers.AdditiveAttention(use_scale=True)
    theirs.build([x.shape for x in inputs])
    theirs.set_weights([np.squeeze(score.v, -1)])
    _assert_close(
        (context, weights),
        theirs(inputs, mask=[None, value_mask], return_attention_scores=True),
    )


@pytest.mark.parametrize("mask", ["none", "keys"])
def test_general_is_a_dense_layer_before_dot_attention(mask):
    query, value = _tensor(B, T, D), _tensor(B, S, 4)
    value_mask = _masks()[mask].get("value_mask")
    ours = ka.LuongAttention("general")
    context, weights = ours(
        query, value, value_mask=value_mask, return_attention_scores=True
    )
    _assert_close(
        (context, weights),
        keras.layers.Attention()(
            [query @ ours.score.W, value],
            mask=[None, value_mask],
            return_attention_scores=True,
        ),
    )


def test_keras_attention_averages_padding_where_we_give_zeros():
    query, value = _tensor(B, T, D), _tensor(B, S, D)
    hidden = np.zeros((B, S), bool)
    ours = ka.Attention("dot")(query, value, value_mask=hidden)
    np.testing.assert_array_equal(ours, np.zeros((B, T, D)))
    theirs = keras.layers.Attention()([query, value], mask=[None, hidden])
    mean = np.mean(value, axis=1, keepdims=True)
    np.testing.assert_allclose(theirs, np.tile(mean, (1, T, 1)), **CLOSE)
