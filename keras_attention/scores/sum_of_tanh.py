"""`v . tanh(W q + U k)` of all pairs: what additive scores spend their time on.

A tanh of each query, key and unit is the most of it. Where XLA compiles, and no
exponential overflows, there is instead one exponential of each query and unit,
and of each key and unit:

    tanh(a + b) = 1 - 2 / (1 + e^{2a} e^{2b})

Where one could overflow, XLA takes the other branch. TensorFlow's own kernels,
one operation at a time, are faster with tanh, and so is the gradient.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import compilation, products
from keras_attention.base_layer import Tensor
from keras_attention.precision import widened
from keras_attention.written_gradients import copied, gradient_of

Form = Callable[[Tensor, Tensor], Tensor]

#: Up to what size of a projection `e^{2a}` is a finite number that is not 0.
LARGEST = {"float32": 43.0, "float64": 353.0}


def sum_of_tanh(Wq: Tensor, Uk: Tensor, v: Tensor) -> Tensor:
    """`v . tanh(W q + U k)` of each pair, `(..., Tq, Tv)`.

    Args:
        Wq: `(..., Tq, units)`.
        Uk: `(..., Tv, units)`.
        v: `(units, 1)`. Its product is a matrix product, which XLA runs on
            whole vectors; a sum over the last axis it adds one by one.
    """
    Wq = ops.expand_dims(widened(Wq), -2)  # (..., Tq, 1, units)
    Uk = ops.expand_dims(widened(Uk), -3)  # (..., 1, Tv, units)
    is_single = Wq.shape[-3] == 1  # As many exponentials as tanh.
    if is_single or not compilation.by_xla():
        return products.by_column(_tanh(Wq, Uk), widened(v))
    return _chosen(Wq, Uk, widened(v))


def _tanh(a: Tensor, b: Tensor) -> Tensor:
    return ops.tanh(a + b)


def _tanh_by_exponentials(a: Tensor, b: Tensor) -> Tensor:
    squares = ops.exp(2.0 * a) * ops.exp(2.0 * b)
    return 1.0 - 2.0 / (1.0 + squares)


@ops.custom_gradient
def _chosen(
    Wq: Tensor, Uk: Tensor, v: Tensor
) -> tuple[Tensor, Callable[[Tensor], Any]]:
    def gradient(upstream: Tensor) -> list[Tensor]:
        # Of no branch, which TensorFlow differentiates in ways that XLA does
        # not know; and beside the sums of a gradient, tanh is the faster form.
        given = copied([Wq, Uk, v, upstream])
        return gradient_of(
            lambda given: products.by_column(_tanh(*given[:2]), given[2]),
            given[:3],
            given[3:],
        )

    return products.by_column(
        _either(Wq, Uk, lambda tanh: tanh(Wq, Uk)), v
    ), gradient


def _either(a: Tensor, b: Tensor, run: Callable[[Form], Any]) -> Any:
    return ops.cond(
        ops.logical_and(_fits(a, -3), _fits(b, -2)),
        lambda: run(_tanh_by_exponentials),
        lambda: run(_tanh),
    )


def _fits(x: Tensor, axis: int) -> Tensor:
    """Whether all are small; of each unit first, which XLA runs on vectors."""
    largest = ops.max(ops.abs(x), axis=axis, initial=0.0)
    limit = LARGEST[keras.backend.standardize_dtype(x.dtype)]
    return ops.all(largest < limit)
