"""Gradients of a layer, on whichever backend Keras runs on."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.testing.subject import Arrays, Subject, numpy


def of(
    subject: Subject,
    layer: keras.Layer,
    arguments: Mapping[str, Any],
    factor: np.ndarray,
    **flags: Any,
) -> Arrays:
    """Of `sum(factor * output)`, by argument and by weight.

    An argument or weight that no gradient reaches gets None, or zeros where
    the backend does not tell.
    """
    tensors = {
        name: ops.convert_to_tensor(x)
        for name, x in arguments.items()
        if x.dtype.kind == "f"
    }
    rest = {k: x for k, x in arguments.items() if k not in tensors}
    weights = list(layer.trainable_variables)

    def loss(*values: Any) -> Any:
        given = dict(zip(tensors, values, strict=True))
        output = subject.call(layer, {**given, **rest}, **flags)
        return ops.sum(ops.cast(output, factor.dtype) * factor)

    found = _BACKENDS[keras.backend.backend()](
        loss, list(tensors.values()), weights
    )
    subject.last_call = {**arguments, **flags}
    names = [*tensors, *(w.path.partition("/")[2] for w in weights)]
    return {
        name: None if gradient is None else numpy(gradient)
        for name, gradient in zip(names, found, strict=True)
    }


def _tensorflow(loss: Any, tensors: list[Any], weights: list[Any]) -> Any:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(tensors)
        value = loss(*tensors)
    return tape.gradient(value, [*tensors, *(w.value for w in weights)])


def _jax(loss: Any, tensors: list[Any], weights: list[Any]) -> Any:
    import jax

    def pure(tensors: list[Any], values: list[Any]) -> Any:
        with keras.StatelessScope(zip(weights, values, strict=True)):
            return loss(*tensors)

    found = jax.grad(pure, (0, 1))(tensors, [w.value for w in weights])
    return [*found[0], *found[1]]


def _torch(loss: Any, tensors: list[Any], weights: list[Any]) -> Any:
    import torch

    tensors = [tensor.detach().requires_grad_() for tensor in tensors]
    values = [*tensors, *(w.value for w in weights)]
    return torch.autograd.grad(loss(*tensors), values, allow_unused=True)


_BACKENDS = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}
