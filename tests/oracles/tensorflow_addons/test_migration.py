"""Models that tensorflow-addons trained and saved, loaded here."""

import keras
import pytest
import tensorflow as tf

from keras_attention.migration import tensorflow_addons as migration
from tests.oracles.tensorflow_addons import inputs, ours


def test_leaves_out_what_optimizers_keep_beside_a_weight(folder):
    every = tf.train.load_checkpoint(folder / "monotonic")
    names = every.get_variable_to_shape_map()
    slots = [name for name in names if migration.SLOT in name]
    assert any(name.startswith("decoder/fc/kernel/") for name in slots)
    arrays = migration.read(folder / "monotonic")
    below = [name for name in arrays if name.startswith("decoder/fc/")]
    assert sorted(below) == ["decoder/fc/bias", "decoder/fc/kernel"]


@pytest.mark.parametrize("name", inputs.DECODERS)
def test_a_trained_model_gives_the_same_logits(folder, addons, name):
    given = inputs.decoders()
    decoder = ours.decoder(given, name)
    arguments = {
        "targets": given["targets"],
        "memory": given["value"],
        "memory_mask": ours.mask(given),
        "initial_state": [given["h"], given["c"]],
    }
    for weight in decoder.output_layer.weights:
        weight.assign(keras.ops.ones_like(weight))
    expected = addons["trained"][f"{name}-logits"]
    before = keras.ops.convert_to_numpy(decoder(**arguments))
    assert abs(before - expected).max() > 0.1
    migration.load_decoder(
        decoder,
        migration.read(folder / name),
        "decoder/rnn_cell",
        embedding="decoder/embedding",
        output_layer="decoder/fc",
    )
    ours.assert_equal(decoder(**arguments), expected)
