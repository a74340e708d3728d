"""The two matrix products of attention, forward and backward.

Summed in float32 at least. On TensorFlow the gradients are written out: left
to itself, TensorFlow multiplies by a transposed table of pairs, `scores^T q`
and `weights^T g`; here it is `(q^T scores)^T` and `(g^T weights)^T`, the same
numbers with the small factor transposed.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.precision import widened


def of_pairs(query: Tensor, key: Tensor) -> Tensor:
    """`q_i . k_j`: `(..., Tq, dim), (..., Tv, dim) -> (..., Tq, Tv)`."""
    query, key = widened(query), widened(key)
    if not _written_out(query, key):
        return ops.matmul(query, _transposed(key))
    return _of_pairs(query, key)


def of_weights(weights: Tensor, value: Tensor) -> Tensor:
    """`sum_j w_j v_j`: `(..., Tq, Tv), (..., Tv, dim) -> (..., Tq, dim)`."""
    weights, value = widened(weights), widened(value)
    if not _written_out(weights, value):
        return ops.matmul(weights, value)
    return _of_weights(weights, value)


@ops.custom_gradient
def _of_pairs(query: Tensor, key: Tensor) -> tuple[Tensor, Callable[..., Any]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_key = ops.matmul(_transposed(query), upstream)
        return ops.matmul(upstream, key), _transposed(by_key)

    return ops.matmul(query, _transposed(key)), gradient


@ops.custom_gradient
def _of_weights(
    weights: Tensor, value: Tensor
) -> tuple[Tensor, Callable[..., Any]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_value = ops.matmul(_transposed(upstream), weights)
        by_weights = ops.matmul(upstream, _transposed(value))
        return by_weights, _transposed(by_value)

    return ops.matmul(weights, value), gradient


def _written_out(a: Tensor, b: Tensor) -> bool:
    """Not where axes are broadcast, whose gradients would need sums."""
    return (
        keras.backend.backend() == "tensorflow"
        and not isinstance(a, keras.KerasTensor)
        and not isinstance(b, keras.KerasTensor)
        and tuple(a.shape[:-2]) == tuple(b.shape[:-2])
    )


def _transposed(x: Tensor) -> Tensor:
    return ops.swapaxes(x, -1, -2)
