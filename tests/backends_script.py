"""Every mechanism and measure on the backend in KERAS_BACKEND: npz out.

`python -m tests.backends_script FILE`: outputs with masks, gradients of the
sum of the outputs, and the weights after one step of `fit`.
"""

import functools
import sys
from unittest import mock

import keras
import numpy as np
from keras import ops

import keras_attention as ka
from keras_attention import compilation, query_blocks
from tests import mechanisms
from tests.conformance.measures import MEASURED

#: In bytes: blocks of one example and head.
TINY_BUDGET = 64


def _tensors(name):
    call = {**mechanisms.inputs(name), **mechanisms.masks(name)}
    return {key: ops.convert_to_tensor(value) for key, value in call.items()}


def _output(layer, tensors, **training):
    if keras.backend.backend() != "jax":
        return ops.convert_to_numpy(layer(**tensors, **training))
    import jax  # Op by op, each of them would be compiled by itself.

    values = [
        [v.value for v in variables]
        for variables in (
            layer.trainable_variables,
            layer.non_trainable_variables,
        )
    ]
    call = functools.partial(layer.stateless_call, **training)
    return np.asarray(jax.jit(call)(*values, **tensors)[0])


def _gradients(layer, tensors):
    """The gradients of the weights, by the backend's own means."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            loss = ops.sum(ops.sin(layer(**tensors)))
        gradients = tape.gradient(loss, layer.trainable_variables)
    elif backend == "jax":
        import jax

        def loss_of(values):
            outputs, _state = layer.stateless_call(
                values,
                [v.value for v in layer.non_trainable_variables],
                **tensors,
            )
            return ops.sum(ops.sin(outputs))

        values = [v.value for v in layer.trainable_variables]
        gradients = jax.jit(jax.grad(loss_of))(values)
    else:
        ops.sum(ops.sin(layer(**tensors))).backward()
        gradients = [v.value.grad for v in layer.trainable_variables]
    return [
        np.zeros(v.shape) if g is None else ops.convert_to_numpy(g)
        for v, g in zip(layer.trainable_variables, gradients, strict=True)
    ]


def _after_fit(layer, name, target):
    shapes = mechanisms.MECHANISMS[name][1]
    given = {
        key: keras.Input(shape[1:], name=key) for key, shape in shapes.items()
    }
    model = keras.Model(given, layer(**given))
    in_jax = keras.backend.backend() == "jax"  # Elsewhere it costs minutes.
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=in_jax)
    x = mechanisms.inputs(name)
    model.fit(x, np.zeros(target.shape), batch_size=2, verbose=0)
    return layer.get_weights()


def _results(name):
    options = {"query_block_size": 2} if name in mechanisms.BLOCKED else {}
    layer = mechanisms.make(name, **options)
    tensors = _tensors(name)
    output = _output(layer, tensors)
    results = {f"{name}/output": output}
    if layer.trainable_variables and name not in mechanisms.UNLEARNED:
        for i, gradient in enumerate(_gradients(layer, tensors)):
            results[f"{name}/gradient/{i}"] = gradient
        layer = mechanisms.make(name, **options)
        for i, weight in enumerate(_after_fit(layer, name, output)):
            results[f"{name}/fitted/{i}"] = weight
    if name in mechanisms.BLOCKED:
        layer = mechanisms.make(name, dropout=0.5, seed=1)
        results[f"{name}/dropout"] = _output(layer, tensors, training=True)
        results |= _in_tiny_blocks(name, tensors)
    return results


def _in_tiny_blocks(name, tensors):
    compilation._shared.clear()
    with mock.patch.multiple(query_blocks, BUDGET=TINY_BUDGET, FEWEST=1):
        layer = mechanisms.make(name, dropout=0.5, seed=1, jit_compile=False)
        results = {
            f"{name}/tiny/output": _output(layer, tensors),
            f"{name}/tiny/dropout": _output(layer, tensors, training=True),
        }
        gradients = (
            _gradients(layer, tensors) if layer.trainable_variables else []
        )
        for i, gradient in enumerate(gradients):
            results[f"{name}/tiny/gradient/{i}"] = gradient
        return results


def _measured():
    """What each loss and metric gives for padded arguments."""
    return {
        f"{measured.cls.__name__}/value": float(
            measured.build()(*measured.arguments())
        )
        for measured in MEASURED
    }


def _decoded():
    """A decoder's logits, and what it generates greedily and by a beam."""
    decoder = ka.AttentionDecoder(
        ka.AttentionCell(
            keras.layers.LSTMCell(5),
            ka.CoverageAttention(4),
            "bahdanau",
            units=6,
            input_feeding=True,
        ),
        keras.layers.Embedding(9, 3),
        keras.layers.Dense(9),
    )
    decoder.build((3, 4), (3, 5, 6))
    random = np.random.default_rng(0)
    for weight in decoder.trainable_variables:
        weight.assign(random.normal(size=weight.shape))
    memory = random.normal(size=(3, 5, 6)).astype("float32")
    mask = np.arange(5) < [[5], [3], [2]]
    targets = random.integers(0, 9, (3, 4))
    results = {"decoder/logits": decoder(targets, memory, memory_mask=mask)}
    rules = {"max_length": 6, "start_id": 1, "end_id": 2}
    beam = {"width": 3, "n_best": 2, "length_penalty": 0.5}
    for name, options in {
        "greedy": {"prefix": [[3, -1, 4]] * 3, "forbidden": (5,)},
        "beam": {**beam, "coverage_penalty": 0.1},
    }.items():
        found = decoder.generate(
            memory, mask, **rules, strategy=name, **options
        )
        for key, value in found._asdict().items():
            results[f"decoder/{name}/{key}"] = value
    return {k: ops.convert_to_numpy(x) for k, x in results.items()}


if __name__ == "__main__":
    np.savez(
        sys.argv[1],
        **{
            key: value
            for name in mechanisms.MECHANISMS
            for key, value in _results(name).items()
        },
        **_measured(),
        **_decoded(),
    )
