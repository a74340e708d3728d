"""One function over blocks of rows, recomputed in the backward pass.

The gradient is written out as a second loop. A loop that is differentiated by
the backend keeps lists of inner results, which TensorFlow can neither hand
from a compiled forward program to a compiled backward one, nor compile for
unknown shapes. TensorFlow only; on JAX and PyTorch `keras.remat` does.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.precision import widened

Function = Callable[[Any, Any], Tensor]


def over(
    function: Function, rows: Any, fixed: Any, size: Any, like: Tensor
) -> Tensor:
    """`function(rows, fixed)`, for `size` rows at a time.

    Args:
        function: Captures no tensor.
        rows: Tensors `(..., n, dim)`, `n` a multiple of `size`.
        fixed: Tensors that every block needs.
        size: Rows in a block.
        like: A tensor with the last axis and the dtype of the result.

    Returns:
        `(..., n, dim)`.
    """
    if keras.backend.backend() != "tensorflow":
        return _mapped(function, rows, fixed, size)
    tensors = keras.tree.flatten((rows, fixed))
    is_real = [_is_real(tensor) for tensor in tensors]

    @ops.custom_gradient
    def looped(*real: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def packed(real: Any) -> Any:
            merged = _merged(tensors, is_real, real)
            return keras.tree.pack_sequence_as((rows, fixed), merged)

        def gradient(upstream: Tensor) -> list[Tensor]:
            rows, fixed = packed(real)
            return _gradient(function, rows, fixed, size, upstream)

        # Else an eager tape keeps what the blocks compute in between.
        rows_, fixed_ = packed([ops.stop_gradient(x) for x in real])
        return _forward(function, rows_, fixed_, size, like), gradient

    return looped(*filter(_is_real, tensors))


def _forward(
    function: Function, rows: Any, fixed: Any, size: Any, like: Tensor
) -> Tensor:
    first = keras.tree.flatten(rows["query"])[0]
    shape = (*ops.shape(first)[:-1], ops.shape(like)[-1])

    def step(start: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
        block = function(_block(rows, start, size), fixed)
        return start + size, _write(result, start, block)

    return _loop(step, shape[-2], ops.zeros(shape, like.dtype))


def _gradient(
    function: Function, rows: Any, fixed: Any, size: Any, upstream: Tensor
) -> list[Tensor]:
    """The gradients of all real tensors in `rows`, then in `fixed`."""
    import tensorflow as tf

    real_rows = [x for x in keras.tree.flatten(rows) if _is_real(x)]
    real_fixed = [x for x in keras.tree.flatten(fixed) if _is_real(x)]

    def step(start: Tensor, of_rows: Any, of_fixed: Any) -> tuple[Any, ...]:
        block = _block(rows, start, size)
        # A tensor given twice, as key and as value, is two sources.
        apart = keras.tree.map_structure(tf.identity, fixed)
        sources = [x for x in keras.tree.flatten(block) if _is_real(x)]
        real_apart = [x for x in keras.tree.flatten(apart) if _is_real(x)]
        with tf.GradientTape() as tape:
            tape.watch([sources, real_apart])
            context = function(block, apart)
        new_rows, new_fixed = tape.gradient(
            context,
            (sources, real_apart),
            output_gradients=_block(upstream, start, size),
            unconnected_gradients=tf.UnconnectedGradients.ZERO,
        )
        of_rows = [
            _write(old, start, new)
            for old, new in zip(of_rows, new_rows, strict=True)
        ]
        of_fixed = [
            old + widened(new)
            for old, new in zip(of_fixed, new_fixed, strict=True)
        ]
        return start + size, of_rows, of_fixed

    of_rows, of_fixed = _loop(
        step,
        ops.shape(upstream)[-2],
        [ops.zeros_like(x) for x in real_rows],
        [ops.zeros_like(widened(x)) for x in real_fixed],
    )
    of_fixed = [
        ops.cast(total, x.dtype)
        for total, x in zip(of_fixed, real_fixed, strict=True)
    ]
    return [*of_rows, *of_fixed]


def _loop(step: Callable[..., Any], stop: Any, *start: Any) -> Any:
    results = ops.while_loop(
        lambda at, *_state: at < stop,
        step,
        (ops.convert_to_tensor(0, "int32"), *start),
    )
    return results[1] if len(start) == 1 else results[1:]


def _block(rows: Any, start: Tensor, size: Any) -> Any:
    """Rows `start` to `start + size` of every tensor."""

    def cut(x: Tensor) -> Tensor:
        *leading, _rows, dim = ops.shape(x)
        before = [0] * len(leading)
        block = ops.slice(x, (*before, start, 0), (*leading, size, dim))
        return _known(block, (*x.shape[:-2], size, x.shape[-1]))

    return keras.tree.map_structure(cut, rows)


def _write(x: Tensor, start: Tensor, block: Tensor) -> Tensor:
    before = [0] * (len(x.shape) - 2)
    written = ops.slice_update(x, (*before, start, 0), block)
    return _known(written, x.shape)


def _known(x: Tensor, shape: Any) -> Tensor:
    """`x`, told what is known of its shape: TensorFlow forgets it in loops."""
    x.set_shape([n if isinstance(n, int) else None for n in shape])
    return x


def _mapped(function: Function, rows: Any, fixed: Any, size: Any) -> Tensor:
    """By the backend's own loop and recomputation."""

    def of_block(block: Any) -> Tensor:
        return keras.remat(function)(block, fixed)

    blocks = keras.tree.map_structure(lambda x: _split(x, size), rows)
    contexts = ops.moveaxis(ops.map(of_block, blocks), 0, -3)
    *leading, count, _size, dim = ops.shape(contexts)
    return ops.reshape(contexts, (*leading, count * size, dim))


def _split(x: Tensor, size: Any) -> Tensor:
    """`(..., n, dim) -> (blocks, ..., size, dim)`."""
    *leading, count, dim = ops.shape(x)
    x = ops.reshape(x, (*leading, count // size, size, dim))
    return ops.moveaxis(x, -3, 0)


def _merged(tensors: Any, is_real: list[bool], real: Any) -> list[Tensor]:
    given = iter(real)
    return [
        next(given) if is_one else tensor
        for tensor, is_one in zip(tensors, is_real, strict=True)
    ]


def _is_real(tensor: Tensor) -> bool:
    return "float" in keras.backend.standardize_dtype(tensor.dtype)
