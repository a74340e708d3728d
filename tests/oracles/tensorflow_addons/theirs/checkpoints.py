"""Checkpoints: of every wrapper, and of a model that was trained."""

import tensorflow as tf

from tests.oracles.tensorflow_addons import inputs
from tests.oracles.tensorflow_addons.theirs.decoders import output_layer
from tests.oracles.tensorflow_addons.theirs.mechanisms import remember
from tests.oracles.tensorflow_addons.theirs.wrapper import first_state, wrapper

STEPS = 3

#: The old one keeps its moments beside the weights.
OPTIMIZERS = {
    "softmax": tf.keras.optimizers.Adam,
    "monotonic": tf.keras.optimizers.legacy.Adam,
    "context": tf.keras.optimizers.Adam,
}


def run(tfa, folder):
    """Writes checkpoints; the logits of the models that were trained."""
    given = inputs.decoders()
    for number, case in enumerate(inputs.WRAPPERS):
        cell = wrapper(tfa, given, *case)
        checkpoint = tf.train.Checkpoint(wrapper=cell)
        checkpoint.write(folder / f"wrapper-{number}")
    return {
        f"{name}-logits": _trained(tfa, given, name, folder / name)
        for name in inputs.DECODERS
    }


class Model(tf.keras.Model):
    """A decoder as in tensorflow-addons' tutorial."""

    def __init__(self, tfa, given, name):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(
            inputs.TOKENS, inputs.EMBEDDING
        )
        self.rnn_cell = wrapper(tfa, given, *inputs.DECODERS[name])
        self.fc = output_layer(given, name)
        self.decoder = tfa.seq2seq.BasicDecoder(
            self.rnn_cell, tfa.seq2seq.TrainingSampler(), self.fc
        )

    def call(self, given):
        """Logits of the targets."""
        outputs, _state, _lengths = self.decoder(
            self.embedding(given["targets"]),
            initial_state=first_state(self.rnn_cell, given),
        )
        return outputs.rnn_output


def _trained(tfa, given, name, folder):
    model = Model(tfa, given, name)
    optimizer = OPTIMIZERS[name](0.05)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    for _ in range(STEPS):
        remember(model.rnn_cell._attention_mechanisms[0], given)
        with tf.GradientTape() as tape:
            value = loss(given["targets"], model(given))
        variables = model.trainable_variables
        gradients = tape.gradient(value, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    checkpoint = tf.train.Checkpoint(decoder=model, optimizer=optimizer)
    checkpoint.save(folder / "checkpoint")
    remember(model.rnn_cell._attention_mechanisms[0], given)
    return model(given)
