"""The two matrix products of attention, summed in float32 at least.

A single query and few keys, such as a window, are multiplied and summed
instead: XLA fuses that with what made the keys, so that a gathered window is
never written to memory.
"""

import math

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.precision import widened

#: Up to how many keys a single query's products are summed.
FEW = 128

#: Sums that run side by side, as vectors in the processor do.
LANES = 16


def of_pairs(query: Tensor, key: Tensor) -> Tensor:
    """`q_i . k_j`: `(..., Tq, dim), (..., Tv, dim) -> (..., Tq, Tv)`."""
    query, key = widened(query), widened(key)
    if not _is_single(query, key):
        return ops.matmul(query, ops.swapaxes(key, -1, -2))
    products = _in_lanes(query) * _in_lanes(key)
    sums = ops.sum(ops.sum(products, -2), -1)
    return ops.expand_dims(sums, -2)


def of_weights(weights: Tensor, value: Tensor) -> Tensor:
    """`sum_j w_j v_j`: `(..., Tq, Tv), (..., Tv, dim) -> (..., Tq, dim)`."""
    weights, value = widened(weights), widened(value)
    if not _is_single(weights, value):
        return ops.matmul(weights, value)
    value_in_lanes = _in_lanes(value)
    # Spread first, so that the gradient is summed in lanes too.
    ones = ops.ones((value_in_lanes.shape[-1],), weights.dtype)
    portions = ops.expand_dims(ops.swapaxes(weights, -1, -2) * ones, -2)
    sums = ops.sum(portions * value_in_lanes, -3)
    return ops.reshape(sums, (*ops.shape(sums)[:-2], 1, value.shape[-1]))


def _is_single(rows: Tensor, columns: Tensor) -> bool:
    keys = columns.shape[-2]
    return rows.shape[-2] == 1 and keys is not None and keys <= FEW


def _in_lanes(x: Tensor) -> Tensor:
    """`(..., m, dim) -> (..., m, dim / lanes, lanes)`."""
    lanes = math.gcd(x.shape[-1], LANES)
    return ops.reshape(x, (*ops.shape(x)[:-1], x.shape[-1] // lanes, lanes))
