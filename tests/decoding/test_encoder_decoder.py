import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_attention as ka

START, END, TOKENS = 1, 2, 12

LOAD = """
import sys
import numpy as np
import tensorflow as tf

given = np.load(sys.argv[2])
loaded = tf.saved_model.load(sys.argv[1])
source, targets = given["source"], given["targets"]
logits = loaded.signatures["serve"](
    source=tf.constant(source), targets=tf.constant(targets)
)
np.testing.assert_allclose(*logits.values(), given["logits"], atol=1e-4)
for name in ("greedy", "beam"):
    # Another batch, and sources cut to their length.
    for rows, width in ((slice(None), None), (slice(0, 1), 3)):
        found = loaded.signatures[name](
            source=tf.constant(source[rows, :width])
        )
        np.testing.assert_array_equal(found["tokens"], given[name][rows])
assert "keras_attention" not in sys.modules
"""


def model():
    """Reads tokens, and starts to write from the encoder's last states."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    source = keras.Input((None,), dtype="int32")
    x = layers.Embedding(TOKENS, 6, mask_zero=True)(source)
    lstm = layers.LSTM(8, return_sequences=True, return_state=True)
    memory, h, c = lstm(x)
    encoder = keras.Model(source, [memory, h, c])
    decoder = ka.AttentionDecoder(
        ka.AttentionCell(
            layers.LSTMCell(8, dropout=0.1),
            ka.BahdanauAttention(8),
            "bahdanau",
            units=8,
        ),
        layers.Embedding(TOKENS, 6, mask_zero=True),
        layers.Dense(TOKENS),
    )
    return ka.EncoderDecoder(encoder, decoder, START, END, max_length=7)


def examples(count=5):
    """Sequences, and the same backwards."""
    rng = np.random.default_rng(0)
    source, targets, given = np.zeros((3, count, 6), "int32")
    for row, length in enumerate(rng.integers(2, 5, count)):
        words = rng.integers(3, TOKENS, length)
        source[row, :length] = words
        targets[row, : length + 1] = [*words[::-1], END]
        given[row, : length + 1] = [START, *words[::-1]]
    source[0, 3:] = 0
    return source, given, targets


def trained():
    source, given, targets = examples(200)
    writer = model()
    writer.compile(
        keras.optimizers.Adam(0.02), ka.TokenCrossentropy(ignore_class=0)
    )
    history = writer.fit(
        [source, given], targets, batch_size=50, epochs=3, verbose=0
    )
    loss = history.history["loss"]
    assert loss[-1] < loss[0]
    return writer


def test_trains_saves_and_exports_its_searches(tmp_path):
    writer = trained()
    source, given, _ = examples()
    logits = writer([source, given])
    found = {
        name: writer.generate(source, strategy=name).tokens.numpy()
        for name in ("greedy", "beam")
    }
    writer.save(tmp_path / "writer.keras")
    again = keras.models.load_model(tmp_path / "writer.keras")
    np.testing.assert_allclose(again([source, given]), logits, atol=1e-6)
    for name, tokens in found.items():
        reloaded = again.generate(source, strategy=name).tokens
        np.testing.assert_array_equal(reloaded, tokens)
    again.export(str(tmp_path / "exported"))
    arrays = {"source": source, "targets": given, "logits": logits, **found}
    np.savez(tmp_path / "given.npz", **arrays)
    child = subprocess.run(
        [
            sys.executable,
            "-c",
            LOAD,
            str(tmp_path / "exported"),
            str(tmp_path / "given.npz"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr


def test_options_of_generate():
    writer, (source, given, _) = model(), examples()
    writer([source, given])
    found = writer.generate(
        source, strategy="beam", width=3, n_best=2, max_length=4
    )
    assert found.tokens.shape == (5, 2, 4)
    assert found.alignments.shape == (5, 2, 4, 6)


def test_padding_of_the_source_is_invisible():
    writer, (source, given, _) = model(), examples()
    expected = writer([source, given])
    wider = np.pad(source, [(0, 0), (0, 4)])
    np.testing.assert_allclose(writer([wider, given]), expected, atol=1e-6)


def test_an_encoder_may_give_no_states():
    layers = keras.layers
    source = keras.Input((None,), dtype="int32")
    encoder = keras.Model(source, layers.Embedding(TOKENS, 6)(source))
    decoder = ka.AttentionDecoder(
        ka.AttentionCell(layers.GRUCell(4), ka.LuongAttention()),
        layers.Embedding(TOKENS, 6),
        layers.Dense(TOKENS),
    )
    writer = ka.EncoderDecoder(encoder, decoder, START, END, max_length=3)
    x, given, _ = examples()
    assert writer([x, given]).shape == (5, 6, TOKENS)
    assert writer.generate(x).tokens.shape == (5, 3)


@pytest.mark.parametrize(
    "name, value",
    [
        ("start_id", -1),
        ("end_id", "end"),
        ("max_length", 0),
        ("padding_id", -1),
    ],
)
def test_ids_are_integers(name, value):
    given = {"start_id": 1, "end_id": 2, "max_length": 5, name: value}
    with pytest.raises(ValueError, match=f"`{name}` must be a"):
        ka.EncoderDecoder(None, None, **given)
