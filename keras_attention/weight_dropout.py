"""Dropout whose pattern depends on the seed and the place alone.

Which weight is dropped is a hash of (seed, row, query, key). So the pattern
is the same in one piece or in blocks of queries, compiled or not, and on every
backend, which no stream of random numbers gives.
"""

from typing import Any

from keras import ops

from keras_attention.base_layer import Tensor


def noise(seed: Tensor, query: Tensor) -> Tensor:
    """Integers that differ for each example and head, `(..., 1, 1)`.

    Args:
        seed: `(2,)` integers, one draw of a `SeedGenerator`.
        query: `(..., Tq, dim)`; only its leading axes count.
    """
    seed = ops.cast(seed, "int32")
    return _mix(seed[0] + _numbers(ops.shape(query)[:-2])) + seed[1]


def drop(
    weights: Tensor, rate: float, noise: Tensor, query: Tensor, key: Tensor
) -> Tensor:
    """Zeroes a fraction `rate` of the weights and scales up the others.

    Args:
        weights: `(..., Tq, Tv)`.
        rate: The fraction to drop.
        noise: `(..., 1, 1)`, from `noise`.
        query: The position of each query, `(..., Tq, 1)`.
        key: The position of each key, `(..., Tv)`.

    Returns:
        `(..., Tq, Tv)`; the expectation is `weights`.
    """
    kept = uniform(noise, query, key) >= rate
    return ops.where(kept, weights / (1.0 - rate), 0.0)


def uniform(noise: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """A number in [0, 1) for each query and key: see `drop`."""
    bits = _mix(noise + ops.cast(query, "int32"))
    bits = _mix(bits + _mix(ops.cast(key, "int32")))
    return ops.cast(_shift(bits, 8), "float32") * 2.0**-24


def normal(noise: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """A standard normal number for each query and key: see `drop`."""
    inside = uniform(noise, query, key) + 2.0**-25  # 0 would be infinite.
    return 2**0.5 * ops.erfinv(2.0 * inside - 1.0)


def _numbers(leading: Any) -> Tensor:
    """Numbers the leading axes: `(..., 1, 1)`."""
    count = 1
    for size in leading:
        count = count * size
    numbers = ops.arange(count, dtype="int32")
    return _mix(ops.reshape(numbers, (*leading, 1, 1)))


def _mix(x: Tensor) -> Tensor:
    """A bijection of 32 bits, each of which depends on every bit of `x`.

    Reference:
        [Wellons, 2018](https://nullprogram.com/blog/2018/07/31/), "lowbias32".
    """
    x = ops.bitwise_xor(x, _shift(x, 16)) * 0x7FEB352D
    x = ops.bitwise_xor(x, _shift(x, 15)) * (0x846CA68B - 2**32)
    return ops.bitwise_xor(x, _shift(x, 16))


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical shift right; int32 alone has wrapping products everywhere."""
    return ops.bitwise_and(ops.right_shift(x, bits), 2 ** (32 - bits) - 1)
