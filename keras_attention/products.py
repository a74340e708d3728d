"""The matrix products of attention: with weights, and the two of the pairs.

The two of the pairs are summed in float32 at least. So are rows, by a product
with ones: a sum over the last axis XLA adds up one number at a time.

Gradients of matrices and large tables of pairs are written out on TensorFlow:
left to itself, XLA multiplies by a transposed left factor, such as `x^T g` or
`scores^T q`, which takes it up to twice as long as a product. Here the smaller
factor is transposed first and written down, as in `(q^T scores)^T`.

The single queries of many windows are multiplied with their few keys and summed
instead: XLA fuses that with the gathering, so that a window is never written to
memory.
"""

import math
from collections.abc import Callable
from typing import Any

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.compilation import by_xla
from keras_attention.precision import widened
from keras_attention.written_gradients import are_written, copied

#: Up to how many keys the products of a window are summed.
FEW = 128

#: From how many single queries of an example on they are of windows: of heads
#: there are fewer, and they are multiplied faster.
MANY = 64

#: Sums of a dot product that run side by side, before they are added up.
LANES = 4

#: From how many queries and keys on a table is large.
LARGE = 40


def by_matrix(x: Tensor, W: Tensor, axes: int = 1) -> Tensor:
    """`x W`: `(..., m), (m, n) -> (..., n)`; m and n may be several axes.

    Asked for as one product of two matrices, whatever the rank of `x`:
    TensorFlow's own product of a small tensor of rank four with a matrix, which
    Keras 3.12 leaves it to, writes over foreign memory on processors with
    AVX-512 (seen in TensorFlow 2.20 and 2.21).

    Args:
        x: Rows.
        W: A matrix, or what projects to or from several heads.
        axes: How many axes m is.
    """
    if len(x.shape) == 2 or not (are_written(x, W) and by_xla()):
        return ops.tensordot(x, W, axes)
    x, W = copied([x, W])
    if axes == 1 and tuple(W.shape[1:]) == (1,):
        return ops.expand_dims(_by_column(x, W), -1)
    return _by_matrix(axes, x, W)


def with_bias(x: Tensor, W: Tensor, b: Tensor | None, axes: int = 1) -> Tensor:
    """`x W + b`, or `x W`; `b` has the axes n. See `by_matrix`."""
    product = by_matrix(x, W, axes)
    if b is None:
        return product
    if not (are_written(product, b) and by_xla()):
        return product + b
    return _plus(*copied([product, b]))


def by_column(x: Tensor, column: Tensor) -> Tensor:
    """`x W`, of a matrix with one column: `(..., n, m), (m, 1) -> (..., n)`.

    Its gradient is written out on TensorFlow, a product for each of the leading
    axes: a single one XLA fuses with what makes `upstream`, and that it then
    computes again for each of the `m` numbers.
    """
    if are_written(x, column):
        return _by_column(*copied([x, column]))
    return ops.squeeze(by_matrix(x, column), -1)


def row_sums(x: Tensor) -> Tensor:
    """`(..., n, dim) -> (..., n)`, widened."""
    x = widened(x)
    if not (are_written(x) and by_xla()):
        return ops.sum(x, axis=-1)
    return by_column(x, ops.ones((x.shape[-1], 1), x.dtype))


def by_rows(x: Tensor, s: Tensor) -> Tensor:
    """`s_i x_i`: `(..., n, dim), (..., n) -> (..., n, dim)`."""
    if not (are_written(x, s) and by_xla()):
        return x * ops.expand_dims(s, -1)
    return _by_rows(*copied([x, s]))


def of_pairs(query: Tensor, key: Tensor) -> Tensor:
    """`q_i . k_j`: `(..., Tq, dim), (..., Tv, dim) -> (..., Tq, Tv)`."""
    query, key = widened(query), widened(key)
    if _are_windows(query, key):
        return _summed_pairs(query, key)
    if _is_large(query, key):
        return _of_pairs(query, key)
    return ops.matmul(query, _transposed(key))


def of_weights(weights: Tensor, value: Tensor) -> Tensor:
    """`sum_j w_j v_j`: `(..., Tq, Tv), (..., Tv, dim) -> (..., Tq, dim)`."""
    weights, value = widened(weights), widened(value)
    if _are_windows(weights, value):
        return _summed_weights(weights, value)
    if _is_large(weights, value):
        return _of_weights(weights, value)
    return ops.matmul(weights, value)


def first_transposed(x: Tensor, y: Tensor) -> Tensor:
    """`x^T y`: `(..., n, dim), (..., n, width) -> (..., dim, width)`.

    The smaller of both is transposed and written down so: XLA is faster at two
    products than at one whose left factor is transposed.
    """
    if x.shape[-1] > y.shape[-1]:
        return _transposed(first_transposed(y, x))
    return written_down(ops.matmul(written_down(_transposed(x)), y))


@ops.custom_gradient
def written_down(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """`x`, made before XLA goes on, which does not look into how it was."""
    if not by_xla():
        return x, lambda upstream: upstream
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    (x,) = gen_xla_ops.xla_optimization_barrier([x])
    return x, lambda upstream: upstream


def _by_matrix(axes: int, x: Tensor, W: Tensor) -> Tensor:
    sizes = math.prod(W.shape[:axes]), math.prod(W.shape[axes:])

    @ops.custom_gradient
    def product(x: Tensor, W: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            rows = ops.reshape(x, (-1, sizes[0]))
            pulls = ops.reshape(upstream, (-1, sizes[1]))
            by_x = ops.matmul(pulls, _transposed(ops.reshape(W, sizes)))
            by_W = first_transposed(rows, pulls)
            return ops.reshape(by_x, ops.shape(x)), ops.reshape(by_W, W.shape)

        return ops.tensordot(x, W, axes), gradient

    return product(x, W)


@ops.custom_gradient
def _plus(
    x: Tensor, b: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    """`x + b`: by more than two axes XLA sums in parts, of a turned copy."""

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        rows = ops.reshape(upstream, (-1, math.prod(b.shape)))
        return upstream, ops.reshape(ops.sum(rows, axis=0), b.shape)

    return x + b, gradient


@ops.custom_gradient
def _by_column(
    x: Tensor, column: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_row = ops.matmul(ops.expand_dims(upstream, -2), x)
        by_column = ops.sum(by_row, axis=tuple(range(len(x.shape) - 1)))
        by_x = ops.expand_dims(upstream, -1) * ops.squeeze(column, -1)
        return by_x, ops.expand_dims(by_column, -1)

    return ops.squeeze(ops.tensordot(x, column, 1), -1), gradient


@ops.custom_gradient
def _by_rows(
    x: Tensor, s: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_s = row_sums(widened(upstream) * widened(x))
        return by_rows(upstream, s), ops.cast(by_s, s.dtype)

    return x * ops.expand_dims(s, -1), gradient


@ops.custom_gradient
def _of_pairs(query: Tensor, key: Tensor) -> tuple[Tensor, Callable[..., Any]]:
    import tensorflow as tf

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_key = first_transposed(upstream, query)
        return ops.matmul(upstream, key), by_key

    # Asked for as one: in a loop, XLA copies the keys of a head to turn them.
    return tf.matmul(query, key, transpose_b=True), gradient


@ops.custom_gradient
def _of_weights(
    weights: Tensor, value: Tensor
) -> tuple[Tensor, Callable[..., Any]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_value = first_transposed(weights, upstream)
        return ops.matmul(upstream, _transposed(value)), by_value

    return ops.matmul(weights, value), gradient


def _summed_pairs(query: Tensor, key: Tensor) -> Tensor:
    products = _in_lanes(query) * _in_lanes(key)
    sums = ops.sum(ops.sum(products, -2), -1)
    return ops.expand_dims(sums, -2)


def _summed_weights(weights: Tensor, value: Tensor) -> Tensor:
    return ops.sum(_transposed(weights) * value, -2, keepdims=True)


def _are_windows(rows: Tensor, columns: Tensor) -> bool:
    if len(rows.shape) < 4 or rows.shape[-2] != 1:
        return False
    windows, keys = rows.shape[-3], columns.shape[-2]
    if keys is None or keys > FEW:
        return False
    return windows is None or windows >= MANY


def _is_large(rows: Tensor, columns: Tensor) -> bool:
    """Not where axes are broadcast, whose gradients would need sums."""
    if not are_written(rows, columns):
        return False
    if tuple(rows.shape[:-2]) != tuple(columns.shape[:-2]):
        return False
    queries, keys = rows.shape[-2], columns.shape[-2]
    return None not in (queries, keys) and min(queries, keys) >= LARGE


def _in_lanes(x: Tensor) -> Tensor:
    """`(..., m, dim) -> (..., m, dim / lanes, lanes)`."""
    lanes = math.gcd(x.shape[-1], LANES)
    return ops.reshape(x, (*ops.shape(x)[:-1], x.shape[-1] // lanes, lanes))


def _transposed(x: Tensor) -> Tensor:
    return ops.swapaxes(x, -1, -2)
