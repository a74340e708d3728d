"""Peers that need Keras 2, served in a process of their own.

tensorflow-addons does not import beside Keras 3, and the package `attention`
cannot be trained on it. Here `keras` means `tf_keras`.
"""

import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks import legacy_decoder, serving

Arrays = dict[str, np.ndarray]
Call = Callable[..., Any]
Settings = dict[str, Any]


class Model:
    """Functions of one peer, each run in its fastest way.

    Args:
        calls: Ways to write the peer's call, by name; all do the same. Each
            is tried as a plain graph and compiled by XLA.
        variables: Its weights.
        arrays: Where the inputs are, and the target.
        settings: Where the learning rate is.
    """

    def __init__(
        self,
        calls: dict[str, Call],
        variables: list[Any],
        arrays: Arrays,
        settings: Settings,
    ) -> None:
        self._calls = calls
        self._variables = variables
        names = sorted(name for name in arrays if name.startswith("input_"))
        self._inputs = [arrays[name] for name in names]
        self._target = tf.constant(arrays["target"])
        self._learning_rate = settings["learning_rate"]
        self._chosen: dict[str, tuple[str, Call]] = {}

    def how(self, what: str) -> str:
        """The name of the fastest way, which is warm now."""
        if what not in self._chosen:
            kept = [variable.numpy() for variable in self._variables]
            self._chosen[what] = self._fastest(getattr(self, "_as_" + what))
            for variable, value in zip(self._variables, kept, strict=True):
                variable.assign(value)
        return self._chosen[what][0]

    def forward(self) -> np.ndarray:
        """A call on the inputs."""
        self.how("forward")
        return self._chosen["forward"][1](*self._tensors()).numpy()

    def train_step(self) -> float:
        """A step of SGD; the loss before it."""
        self.how("train_step")
        return float(self._chosen["train_step"][1](*self._tensors()))

    def _fastest(self, prepare: Callable[[Call], Call]) -> tuple[str, Call]:
        timed = []
        for name, call in self._calls.items():
            for jit in (False, True):
                function = tf.function(prepare(call), jit_compile=jit)
                way = ", ".join([name, "XLA" if jit else "graph"])
                try:
                    timed.append((self._seconds(function), way, function))
                except (tf.errors.OpError, ValueError):
                    continue  # XLA does not take every op.
        _, way, function = min(timed, key=lambda candidate: candidate[0])
        return way, function

    def _seconds(self, function: Call) -> float:
        """The quickest of a few warm calls."""
        times = []
        for _ in range(4):
            start = time.perf_counter()
            function(*self._tensors()).numpy()
            times.append(time.perf_counter() - start)
        return min(times[1:])

    def _as_forward(self, call: Call) -> Call:
        return lambda *inputs: call(*inputs)

    def _as_train_step(self, call: Call) -> Call:
        def train_step(*inputs: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(call(*inputs) - self._target))
            gradients = tape.gradient(loss, self._variables)
            for variable, gradient in zip(
                self._variables, gradients, strict=True
            ):
                variable.assign_sub(self._learning_rate * gradient)
            return loss

        return train_step

    def _tensors(self) -> list[Any]:
        return [tf.constant(x) for x in self._inputs]


def luong(arrays: Arrays, settings: Settings) -> Model:
    """`tfa.seq2seq.LuongAttention` and the read of its `AttentionWrapper`."""
    units = arrays["input_0"].shape[-1]
    mechanism = _addons().seq2seq.LuongAttention(units)
    return _mechanism(mechanism, _stateless(mechanism), arrays, settings)


def bahdanau(arrays: Arrays, settings: Settings) -> Model:
    """`tfa.seq2seq.BahdanauAttention`, and `AttentionWrapper`'s read."""
    mechanism = _addons().seq2seq.BahdanauAttention(
        arrays["attention_v"].shape[0], normalize="attention_g" in arrays
    )
    return _mechanism(mechanism, _stateless(mechanism), arrays, settings)


def monotonic(arrays: Arrays, settings: Settings) -> Model:
    """`tfa.seq2seq.BahdanauMonotonicAttention`, or Luong's without a `v`."""
    seq2seq, mode = _addons().seq2seq, settings["mode"]
    if "attention_v" in arrays:
        units = arrays["attention_v"].shape[0]
        mechanism = seq2seq.BahdanauMonotonicAttention(units, mode=mode)
    else:
        units = arrays["input_0"].shape[-1]
        mechanism = seq2seq.LuongMonotonicAttention(units, mode=mode)
    calls = {"scan": _with_state(mechanism)}
    return _mechanism(mechanism, calls, arrays, settings)


def _mechanism(
    mechanism: Any, calls: dict[str, Call], arrays: Arrays, settings: Settings
) -> Model:
    """A mechanism of tfa's, which takes one query at a time."""
    one_query = _over_queries(mechanism, _once)
    if arrays["input_0"].shape[1] == 1:
        calls = {"one query": one_query}
    first = tf.constant(arrays["input_0"][:, :1])
    one_query(first, tf.constant(arrays["input_1"]))  # Creates the weights.
    for name, value in arrays.items():
        if name.endswith("_layer"):
            getattr(mechanism, name).set_weights([value])
        elif name.startswith("attention_"):
            getattr(mechanism, name).assign(value)
    return Model(calls, mechanism.trainable_variables, arrays, settings)


def _stateless(mechanism: Any) -> dict[str, Call]:
    loops = {"vectorized_map": tf.vectorized_map, "map_fn": tf.map_fn}
    return {
        name: _over_queries(mechanism, loop) for name, loop in loops.items()
    }


def _over_queries(mechanism: Any, loop: Call) -> Call:
    def call(query: Any, memory: Any) -> Any:
        mechanism.setup_memory(memory)
        state = mechanism.initial_state(memory.shape[0], memory.dtype)

        def one(query: Any) -> Any:
            alignments, _state = mechanism([query, state])
            return tf.squeeze(tf.expand_dims(alignments, 1) @ memory, 1)

        context = loop(one, tf.transpose(query, (1, 0, 2)))
        return tf.transpose(context, (1, 0, 2))

    return call


def _once(function: Call, by_step: Any) -> Any:
    return function(by_step[0])[None]


def _with_state(mechanism: Any) -> Call:
    """The alignments are the state; all queries read at once."""

    def call(query: Any, memory: Any) -> Any:
        mechanism.setup_memory(memory)
        first = mechanism.initial_state(memory.shape[0], memory.dtype)

        def weigh(before: Any, query: Any) -> Any:
            alignments, _state = mechanism([query, before])
            return alignments

        weights = tf.scan(weigh, tf.transpose(query, (1, 0, 2)), first)
        return tf.transpose(weights, (1, 0, 2)) @ memory

    return call


def sparsemax(arrays: Arrays, settings: Settings) -> Model:
    """`tfa.activations.sparsemax` of products with a matrix between."""
    activation = _addons().activations.sparsemax
    W = tf.Variable(arrays["W"])

    def call(query: Any, value: Any) -> Any:
        scores = tf.matmul(query @ W, value, transpose_b=True)
        return activation(scores) @ value

    return Model({"tfa.activations": call}, [W], arrays, settings)


def multi_head(arrays: Arrays, settings: Settings) -> Model:
    """`tfa.layers.MultiHeadAttention`, without biases."""
    layer = _addons().layers.MultiHeadAttention(
        head_size=settings["head"],
        num_heads=settings["heads"],
        use_projection_bias=False,
    )

    def call(query: Any, value: Any) -> Any:
        return layer([query, value])

    call(*(tf.constant(arrays[f"input_{i}"]) for i in range(2)))
    for name in ("query", "key", "value", "projection"):
        getattr(layer, f"{name}_kernel").assign(arrays[name])
    return Model({"layer": call}, layer.trainable_variables, arrays, settings)


def many_to_one(arrays: Arrays, settings: Settings) -> Model:
    """`attention.Attention`: the last step asks the whole sequence."""
    _require_keras_2()
    import attention

    layer = attention.Attention(settings["units"], settings["score"])
    layer(tf.constant(arrays["input_0"]))
    for name in sorted(set(arrays) - {"input_0", "target"}):
        getattr(layer, name).set_weights([arrays[name]])
    return Model({"layer": layer}, layer.trainable_variables, arrays, settings)


def decoder(arrays: Arrays, settings: Settings) -> serving.Model:
    """A `BasicDecoder` or a `BeamSearchDecoder`."""
    return legacy_decoder.Decoder(_addons(), arrays, settings)


def _addons() -> Any:
    _require_keras_2()
    np.Inf = np.inf  # NumPy 2 dropped the name.
    for name in list(sys.modules):
        if name == "tf_keras" or name.startswith("tf_keras."):
            alias = "keras" + name.removeprefix("tf_keras")
            sys.modules[alias] = sys.modules[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It announces its end of life.
        import tensorflow_addons

    return tensorflow_addons


def _require_keras_2() -> None:
    """Brings the modules that take Keras's place, or names the package."""
    import tf_keras  # noqa: F401


CASES: dict[str, serving.Build] = {
    "luong": luong,
    "bahdanau": bahdanau,
    "monotonic": monotonic,
    "sparsemax": sparsemax,
    "multi_head": multi_head,
    "many_to_one": many_to_one,
    "decoder": decoder,
}


if __name__ == "__main__":
    serving.serve(CASES)
