"""The few largest of many numbers, looked for where they can be."""

from keras import ops

from keras_attention.base_layer import Tensor

#: Numbers in a block: few enough that there are few blocks' numbers to sort,
#: enough that there are few blocks. XLA sorts one number at a time, and takes
#: the maximum of a block many at a time.
BLOCK = 128


def largest(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row, the largest first.

    They lie in the k blocks with the largest maxima, so that only these are
    searched.

    Args:
        x: `(batch, n)`, where `n` is known and not below `k`.
        k: How many.

    Returns:
        `(batch, k)` each: the numbers, and their places in the row. Of equal
        numbers the first is taken.
    """
    n = x.shape[-1]
    blocks = -(-n // BLOCK)
    if blocks <= k:
        found, place = ops.top_k(x, k)
        return found, ops.cast(place, "int32")
    x = ops.pad(
        x, [[0, 0], [0, blocks * BLOCK - n]], constant_values=-float("inf")
    )
    x = ops.reshape(x, (-1, blocks, BLOCK))
    _, block = ops.top_k(ops.max(x, axis=-1), k)
    block = ops.sort(ops.cast(block, "int32"), axis=-1)  # First ones first.
    x = ops.take_along_axis(x, ops.expand_dims(block, -1), axis=1)
    found, place = ops.top_k(ops.reshape(x, (-1, k * BLOCK)), k)
    place = ops.cast(place, "int32")
    block = ops.take_along_axis(block, place // BLOCK, axis=-1)
    return found, block * BLOCK + place % BLOCK
