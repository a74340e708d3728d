"""Attention mechanisms, heads and sparsemax."""

import numpy as np
import tensorflow as tf

from tests.oracles.tensorflow_addons import inputs

#: Under which name a mechanism keeps a weight.
NAMES = {
    "luong": {"g": ("scale_weight", "attention_g")},
    "bahdanau": {
        "v": ("attention_v",),
        "g": ("attention_g",),
        "b": ("attention_b",),
    },
}


def run(tfa):
    """The weights of every mechanism, and what heads give."""
    given = inputs.attention()
    output, weights = _multi_head(tfa, {**given, **inputs.heads()})
    return {
        **{
            name: ask(mechanism(tfa, name, given), given)
            for name in inputs.MECHANISMS
        },
        "sparsemax": tfa.activations.sparsemax(given["scores"]),
        "multi_head": output,
        "multi_head_weights": weights,
    }


def mechanism(tfa, name, given, mode=None):
    """One with the given weights; monotonic, if there is a mode."""
    family, _, variant = name.partition("_")
    monotonic = {} if mode is None else {"mode": mode}
    suffix = "MonotonicAttention" if monotonic else "Attention"
    cls = getattr(tfa.seq2seq, family.capitalize() + suffix)
    if family == "luong":
        made = cls(inputs.CELL, scale=variant == "scaled", **monotonic)
    else:
        made = cls(inputs.HIDDEN, normalize=bool(variant), **monotonic)
    remember(made, given)
    made([given["query"][:, 0], tf.zeros((inputs.B, inputs.S))])  # Builds it.
    _fill(made, family, given)
    remember(made, given)
    return made


def remember(mechanism, given, copies=1):
    """Projects the keys of the memory."""
    memory, lengths = (
        np.repeat(given[name], copies, axis=0) for name in ("value", "lengths")
    )
    mechanism.setup_memory(memory, memory_sequence_length=lengths)


def ask(mechanism, given):
    """The weights of all queries, of which a mechanism takes one at a time."""
    state = mechanism.initial_state(inputs.B, tf.float32)
    rows = []
    for query in given["query"].swapaxes(0, 1):
        weights, state = mechanism([query, state])
        rows.append(weights)
    return np.stack(rows, axis=1)


def _fill(mechanism, family, given):
    if family == "luong":
        mechanism.memory_layer.set_weights([given["luong_W"].T])
    else:
        mechanism.query_layer.set_weights([given["bahdanau_W"]])
        mechanism.memory_layer.set_weights([given["bahdanau_U"]])
    for letter, names in NAMES[family].items():
        for name in names:
            _assign(mechanism, name, given[f"{family}_{letter}"])
    _assign(mechanism, "attention_score_bias", given["r"])


def _assign(mechanism, name, value):
    weight = getattr(mechanism, name, None)
    if weight is not None:
        weight.assign(value)


def _multi_head(tfa, given):
    _dim, heads, size = given["heads_Q"].shape
    layer = tfa.layers.MultiHeadAttention(
        head_size=size,
        num_heads=heads,
        output_size=given["heads_O"].shape[-1],
        return_attn_coef=True,
        use_projection_bias=True,
    )
    pair = [given["query"], given["value"]]
    layer(pair)
    for name, letter in zip(
        ("query", "key", "value", "projection"), "QKVO", strict=True
    ):
        kernel = given[f"heads_{letter}"]
        kernel = kernel if letter == "O" else kernel.transpose(1, 0, 2)
        getattr(layer, f"{name}_kernel").assign(kernel)
    layer.projection_bias.assign(given["heads_b"])
    return layer(pair, mask=given["pairs"])
