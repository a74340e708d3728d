"""Runs tensorflow-addons on given inputs and weights: npz in, npz out.

tensorflow-addons wants Keras 2, so it needs a process of its own, in which
`keras` means `tf_keras`.
"""

import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras  # noqa: F401  Brings the modules that take Keras's place.


def _import_tensorflow_addons():
    np.Inf = np.inf  # NumPy 2 dropped the name.
    for name in list(sys.modules):
        if name == "tf_keras" or name.startswith("tf_keras."):
            sys.modules["keras" + name.removeprefix("tf_keras")] = sys.modules[
                name
            ]
    import tensorflow_addons

    return tensorflow_addons


def _weights_of_steps(mechanism, given, prepare):
    """The weights for each query; a mechanism takes one query at a time."""
    memory, lengths = given["value"], given["lengths"]
    zeros = tf.zeros(memory.shape[:2])
    mechanism.setup_memory(memory, memory_sequence_length=lengths)
    mechanism([given["query"][:, 0], zeros])  # Creates the weights.
    prepare(mechanism)
    mechanism.setup_memory(memory, memory_sequence_length=lengths)
    steps = range(given["query"].shape[1])
    rows = [mechanism([given["query"][:, t], zeros])[0] for t in steps]
    return np.stack(rows, axis=1)


def _luong(tfa, given, scale):
    def prepare(mechanism):
        mechanism.memory_layer.set_weights([given["luong_W"].T])
        if scale:
            mechanism.scale_weight.assign(given["luong_g"])

    units = given["query"].shape[-1]
    mechanism = tfa.seq2seq.LuongAttention(units, scale=scale)
    return _weights_of_steps(mechanism, given, prepare)


def _bahdanau(tfa, given, normalize):
    def prepare(mechanism):
        mechanism.query_layer.set_weights([given["bahdanau_W"]])
        mechanism.memory_layer.set_weights([given["bahdanau_U"]])
        mechanism.attention_v.assign(given["bahdanau_v"])
        if normalize:
            mechanism.attention_g.assign(given["bahdanau_g"])
            mechanism.attention_b.assign(given["bahdanau_b"])

    units = given["bahdanau_v"].shape[0]
    mechanism = tfa.seq2seq.BahdanauAttention(units, normalize=normalize)
    return _weights_of_steps(mechanism, given, prepare)


def _multi_head(tfa, given):
    _batch, heads, size = given["heads_Q"].shape
    layer = tfa.layers.MultiHeadAttention(
        head_size=size,
        num_heads=heads,
        output_size=given["heads_O"].shape[-1],
        return_attn_coef=True,
        use_projection_bias=True,
    )
    inputs = [given["query"], given["value"]]
    layer(inputs)
    for name, letter in zip(
        ("query", "key", "value", "projection"), "QKVO", strict=True
    ):
        kernel = given[f"heads_{letter}"]
        kernel = kernel if letter == "O" else kernel.transpose(1, 0, 2)
        getattr(layer, f"{name}_kernel").assign(kernel)
    layer.projection_bias.assign(given["heads_b"])
    return layer(inputs, mask=given["pairs"])


def main(path_in, path_out):
    tfa = _import_tensorflow_addons()
    given = dict(np.load(path_in))
    output, weights = _multi_head(tfa, given)
    np.savez(
        path_out,
        luong=_luong(tfa, given, scale=False),
        luong_scaled=_luong(tfa, given, scale=True),
        bahdanau=_bahdanau(tfa, given, normalize=False),
        bahdanau_normalized=_bahdanau(tfa, given, normalize=True),
        sparsemax=tfa.activations.sparsemax(given["scores"]),
        multi_head=output,
        multi_head_weights=weights,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
