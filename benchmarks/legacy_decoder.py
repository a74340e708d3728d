"""TensorFlow Addons' decoder, for the child process that has Keras 2."""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

Arrays = dict[str, np.ndarray]


class Decoder:
    """An `AttentionWrapper` in a `BasicDecoder` or a `BeamSearchDecoder`.

    Args:
        tfa: The package.
        arrays: Weights, the memory, given tokens, and the tokens wanted.
        settings: What is done, and how.
    """

    def __init__(
        self, tfa: Any, arrays: Arrays, settings: dict[str, Any]
    ) -> None:
        self._tfa = tfa
        self._settings = settings
        self._start, self._end = settings["ids"]
        self._memory = tf.constant(arrays["input_0"])
        self._given = tf.constant(arrays["input_1"])
        self._wanted = tf.constant(arrays["target"])
        self._embedding = tf.Variable(arrays["embeddings"])
        self._output = _dense(arrays["output_kernel"], arrays["output_bias"])
        self._mechanism = tfa.seq2seq.BahdanauAttention(
            arrays["attention_v"].shape[0], self._memory
        )
        layer = _dense(arrays["attention_layer"])
        self._cell = tfa.seq2seq.AttentionWrapper(
            tf.keras.layers.LSTMCell(arrays["bias"].shape[0] // 4),
            self._mechanism,
            attention_layer=layer,
        )
        self._call_once()
        self._fill(arrays)
        self._run: dict[str, Callable[[], Any]] = {
            "train_step": tf.function(self._step),
            "forward": tf.function(
                self._beam if settings["way"] == "beam" else self._greedy
            ),
        }
        self._warm: set[str] = set()

    def how(self, what: str) -> str:
        """The only way that it has: a graph, which is warm now."""
        if what not in self._warm:
            kept = [variable.numpy() for variable in self._variables()]
            self._run[what]()
            for variable, value in zip(self._variables(), kept, strict=True):
                variable.assign(value)
            self._warm.add(what)
        return "graph"

    def forward(self) -> np.ndarray:
        """The tokens generated."""
        return np.asarray(self._run["forward"]())

    def train_step(self) -> float:
        """A step of SGD; the loss before it."""
        return float(self._run["train_step"]())

    def _step(self) -> Any:
        variables = self._variables()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    self._wanted, self._logits()
                )
            )
        rate = self._settings["learning_rate"]
        for variable, gradient in zip(
            variables, tape.gradient(loss, variables), strict=True
        ):
            variable.assign_sub(rate * tf.convert_to_tensor(gradient))
        return loss

    def _logits(self) -> Any:
        batch, length = self._given.shape
        self._mechanism.setup_memory(self._memory)
        decoder = self._tfa.seq2seq.BasicDecoder(
            self._cell, self._tfa.seq2seq.TrainingSampler(), self._output
        )
        outputs, _, _ = decoder(
            tf.gather(self._embedding, self._given),
            initial_state=self._first_state(batch),
            sequence_length=tf.fill([batch], length),
        )
        return outputs.rnn_output

    def _greedy(self) -> Any:
        self._mechanism.setup_memory(self._memory)
        decoder = self._tfa.seq2seq.BasicDecoder(
            self._cell,
            self._tfa.seq2seq.GreedyEmbeddingSampler(),
            self._output,
            maximum_iterations=self._given.shape[1],
        )
        return self._decoded(decoder, 1).sample_id

    def _beam(self) -> Any:
        width = self._settings["width"]
        self._mechanism.setup_memory(
            self._tfa.seq2seq.tile_batch(self._memory, width)
        )
        decoder = self._tfa.seq2seq.BeamSearchDecoder(
            self._cell,
            width,
            output_layer=self._output,
            maximum_iterations=self._given.shape[1],
        )
        return self._decoded(decoder, width).predicted_ids[..., 0]

    def _decoded(self, decoder: Any, width: int) -> Any:
        batch = self._given.shape[0]
        outputs, _, _ = decoder(
            self._embedding,
            initial_state=self._first_state(batch * width),
            start_tokens=tf.fill([batch], self._start),
            end_token=self._end,
        )
        return outputs

    def _first_state(self, batch: int) -> Any:
        return self._cell.get_initial_state(batch_size=batch, dtype=tf.float32)

    def _call_once(self) -> None:
        """Creates the weights."""
        batch = self._given.shape[0]
        inputs = tf.gather(self._embedding, self._given[:, 0])
        self._cell(inputs, self._first_state(batch))

    def _fill(self, arrays: Arrays) -> None:
        names = ("kernel", "recurrent_kernel", "bias")
        self._cell._cell.set_weights([arrays[name] for name in names])
        for name in ("query_layer", "memory_layer"):
            getattr(self._mechanism, name).set_weights([arrays[name]])
        self._mechanism.attention_v.assign(arrays["attention_v"])

    def _variables(self) -> list[Any]:
        return [
            self._embedding,
            *self._cell.trainable_variables,
            *self._output.trainable_variables,
        ]


def _dense(kernel: np.ndarray, bias: np.ndarray | None = None) -> Any:
    layer = tf.keras.layers.Dense(kernel.shape[1], use_bias=bias is not None)
    layer.build((None, kernel.shape[0]))
    layer.set_weights([kernel] if bias is None else [kernel, bias])
    return layer
