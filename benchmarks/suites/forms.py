"""The inner part of attention, in the forms that were tried.

Queries, keys and values in, context out (`dot`; `window`, a window of keys
somewhere for each query), or scores out (`additive`); no projections. Ours is
what the package does; the others are the dead ends, each written here alone.
Ways: `jit` and `graph` (TensorFlow's own kernels) are forward, `gradient` and
`gradient_graph` give the gradients of all inputs.
"""

import functools
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch

import keras_attention as ka
from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side, arrays
from keras_attention import (
    block_loop,
    products,
    query_blocks,
    tables,
    windows,
)
from keras_attention.scores.sum_of_tanh import sum_of_tanh

REST = 0.02

#: Keys in a window.
WIDTH = 21

Form = Callable[..., Any]


def cases(quick: bool) -> list[Case]:
    """Dot products, windows and the additive score, in four ways.

    Many dot products in two, forward.
    """
    dot = {"batch": 2, "steps": 2048, "dim": 64, "heads": 4, "layer": "dot"}
    additive = {"batch": 1, "steps": 512, "dim": 64, "layer": "additive"}
    window = {"batch": 1, "steps": 8192, "dim": 64, "layer": "window"}
    sizes = [dot, additive, window]
    long = {**dot, "steps": 8192}
    if quick:
        sizes = [{**size, "steps": 32} for size in sizes]
        dot, long = sizes[0], {**sizes[0], "steps": 64}
    chosen = ("jit", "graph", "gradient", "gradient_graph")
    return [
        *(Case(**size, way=way) for size in sizes for way in chosen),
        *(Case(**long, way=way) for way in ("jit", "graph")),
        *(
            Case(**dot, way=way, dtype="mixed_bfloat16")
            for way in ("jit", "gradient")
        ),
    ]


def sides(case: Case) -> dict[str, Side]:
    """Every form on the same numbers, and PyTorch's kernel."""
    rng = np.random.default_rng(0)
    heads = (case.heads,) if case.layer == "dot" else ()
    shape = (case.batch, *heads, case.steps, case.dim)
    tensors = [ways.tensor(rng.normal(size=shape)) for _ in range(3)]
    forms = {"dot": _dot, "additive": _additive, "window": _window}[case.layer](
        case
    )
    if case.layer == "additive":
        tensors[2] = ways.tensor(rng.normal(size=(case.dim, 1)))
    run = {name: _side(form, tensors, case) for name, form in forms.items()}
    if case.layer == "dot" and case.dtype == "float32":
        run["torch"] = _torch(tensors, case.way.startswith("gradient"))
    return run


def _dot(case: Case) -> dict[str, Form]:
    if case.dtype != "float32":
        return {
            "ours": _layer(case),
            "bfloat16_products": in_bfloat16,
        }
    return {
        "ours": _layer(case),
        "as_written": as_written,
        "postponed": postponed,
        "no_maximum": no_maximum,
        "ones_column": ones_column,
        "running_maximum": functools.partial(running_maximum, case.steps // 4),
        "stored": _layer(case, query_block_size=case.steps),
        "blocks_of_1_MiB": _layer(case, budget=2**20),
        "blocks_of_16_MiB": _layer(case, budget=2**24),
        "all_heads": _layer(case, query_block_size=max(case.steps // 16, 1)),
        "axes_of_1": _layer(case, normalized=_as_it_is),
    }


def as_written(q: Any, k: Any, v: Any) -> Any:
    """The equation, division and all."""
    import tensorflow as tf

    return tf.matmul(tf.nn.softmax(_scores(q, k)), v)


def postponed(q: Any, k: Any, v: Any) -> Any:
    """The context is divided, not the weights."""
    import tensorflow as tf

    scores = _scores(q, k)
    return _divided(scores - tf.reduce_max(scores, -1, keepdims=True), v)


def no_maximum(q: Any, k: Any, v: Any) -> Any:
    """Overflows for large scores: what a pass for the maximum costs."""
    return _divided(_scores(q, k), v)


def ones_column(q: Any, k: Any, v: Any) -> Any:
    """The sum of the exponentials as one more column of the product."""
    import tensorflow as tf

    scores = _scores(q, k)
    portions = tf.exp(scores - tf.reduce_max(scores, -1, keepdims=True))
    sums = tf.matmul(portions, tf.concat([v, tf.ones_like(v[..., :1])], -1))
    return sums[..., :-1] / sums[..., -1:]


def running_maximum(size: int, q: Any, k: Any, v: Any) -> Any:
    """Blocks of keys, one after the other, with a running maximum."""
    import tensorflow as tf

    largest = tf.fill((*q.shape[:-1], 1), -1e30)
    total, sums = tf.zeros_like(largest), tf.zeros_like(q)
    for start in range(0, k.shape[-2], size):
        block = slice(start, start + size)
        scores = _scores(q, k[..., block, :])
        new = tf.reduce_max(scores, -1, keepdims=True)
        new = tf.maximum(largest, tf.stop_gradient(new))
        portions, kept = tf.exp(scores - new), tf.exp(largest - new)
        total = total * kept + tf.reduce_sum(portions, -1, keepdims=True)
        sums = sums * kept + tf.matmul(portions, v[..., block, :])
        largest = new
    return sums / total


def in_bfloat16(q: Any, k: Any, v: Any) -> Any:
    """Both products in bfloat16, the softmax in float32."""
    import tensorflow as tf

    q, k, v = (tf.cast(x, "bfloat16") for x in (q, k, v))
    weights = tf.nn.softmax(tf.cast(_scores(q, k), "float32"))
    return tf.cast(tf.matmul(tf.cast(weights, "bfloat16"), v), "float32")


def _scores(q: Any, k: Any) -> Any:
    import tensorflow as tf

    scale = tf.cast(q.shape[-1] ** -0.5, q.dtype)
    return tf.matmul(q * scale, k, transpose_b=True)


def _divided(scores: Any, v: Any) -> Any:
    import tensorflow as tf

    portions = tf.exp(scores)
    return tf.matmul(portions, v) / tf.reduce_sum(portions, -1, keepdims=True)


def _layer(
    case: Case,
    budget: int = query_blocks.BUDGET,
    query_block_size: int | None = None,
    normalized: Callable[..., Any] = tables.without_ones,
) -> Form:
    """The package's own, with what it chooses changed while it is traced."""
    attend = ka.Attention(
        query_block_size=query_block_size, dtype=case.dtype, jit_compile=False
    )

    def context(q: Any, k: Any, v: Any) -> Any:
        import tensorflow as tf

        with (
            mock.patch.object(query_blocks, "BUDGET", budget),
            mock.patch.object(tables, "without_ones", normalized),
        ):
            return tf.cast(attend(q, v, k), "float32")

    return context


def _as_it_is(function: Form, scores: Any, visible: Any) -> Any:
    """A block's table with its leading axes of 1."""
    return function(scores, visible)


def _additive(_case: Case) -> dict[str, Form]:
    return {
        "ours": in_blocks,
        "summed": summed,
        "matrix_product": matrix_product,
        "exponentials": exponentials,
        "unit_by_unit": unit_by_unit,
    }


def in_blocks(q: Any, k: Any, v: Any) -> Any:
    """The package's own: the matrix product, in blocks of queries."""
    size = query_blocks._fitting(list(q.shape[:-1]), k.shape[-2] * k.shape[-1])
    (scores,) = block_loop.over(
        lambda rows, shared, whole: (sum_of_tanh(rows, shared, whole),),
        q,
        k,
        v,
        list(q.shape[:-1]),
        size,
        (k.shape[-2],),
        "float32",
        is_forward_whole=False,
    )
    return scores


def summed(q: Any, k: Any, v: Any) -> Any:
    """`sum(v * tanh(...))` over the last axis."""
    import tensorflow as tf

    hidden = tf.tanh(q[..., None, :] + k[..., None, :, :])
    return tf.reduce_sum(v[:, 0] * hidden, -1)


def matrix_product(q: Any, k: Any, v: Any) -> Any:
    """`tanh(...) v` as a matrix product, whole."""
    import tensorflow as tf

    hidden = tf.tanh(q[..., None, :] + k[..., None, :, :])
    return tf.matmul(hidden, v)[..., 0]


def exponentials(q: Any, k: Any, v: Any) -> Any:
    """tanh(a + b) = 1 - 2 / (1 + e^2a e^2b): wrong where |a| > 44."""
    import tensorflow as tf

    a, b = tf.exp(2.0 * q), tf.exp(2.0 * k)
    inverse = 1.0 / (1.0 + a[..., None, :] * b[..., None, :, :])
    return tf.reduce_sum(v) - 2.0 * tf.matmul(inverse, v)[..., 0]


def unit_by_unit(q: Any, k: Any, v: Any) -> Any:
    """The sum over the units written out, one table of pairs each."""
    import tensorflow as tf

    columns = tf.transpose(k, (0, 2, 1))
    return tf.add_n(
        [
            v[u, 0] * tf.tanh(q[..., u, None] + columns[:, u, None, :])
            for u in range(q.shape[-1])
        ]
    )


def _window(case: Case) -> dict[str, Form]:
    rng = np.random.default_rng(0)
    first = rng.integers(case.steps - WIDTH, size=(case.batch, case.steps, 1))
    place = (first + np.arange(WIDTH)).astype("int32")
    return {
        "ours": functools.partial(_read_windows, products, place),
        "matrix_products": functools.partial(_read_windows, _Matmul, place),
    }


class _Matmul:
    """The products of one query and its window as matrix products."""

    @staticmethod
    def of_pairs(query: Any, key: Any) -> Any:
        import tensorflow as tf

        return tf.matmul(query, key, transpose_b=True)

    @staticmethod
    def of_weights(weights: Any, value: Any) -> Any:
        import tensorflow as tf

        return tf.matmul(weights, value)


def _read_windows(by: Any, place: Any, q: Any, k: Any, v: Any) -> Any:
    """Without a softmax between the products."""
    scores = by.of_pairs(q[..., None, :], windows.gather(k, place))
    return by.of_weights(scores, windows.gather(v, place))[..., 0, :]


def _side(form: Form, tensors: list[Any], case: Case) -> Side:
    import tensorflow as tf

    compiled = not case.way.endswith("graph")
    if not case.way.startswith("gradient"):
        run = tf.function(form, jit_compile=compiled)
        return Side(functools.partial(run, *tensors), arrays)
    pull = ways.like(form(*tensors))

    def gradients(*tensors: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            output = form(*tensors)
        found = tape.gradient(output, tensors, output_gradients=pull)
        return [output, *found]

    run = tf.function(gradients, jit_compile=compiled)
    return Side(functools.partial(run, *tensors), arrays)


def _torch(tensors: list[Any], training: bool) -> Side:
    q, k, v = (torch.tensor(x.numpy()) for x in tensors)
    kernel = torch.nn.functional.scaled_dot_product_attention
    if not training:
        run = torch.inference_mode()(functools.partial(kernel, q, k, v))
        return Side(run, arrays)
    pull = torch.tensor(ways.like(tensors[0]).numpy())

    def gradients() -> list[Any]:
        inputs = [x.requires_grad_() for x in (q, k, v)]
        output = kernel(*inputs)
        return [output.detach(), *torch.autograd.grad(output, inputs, pull)]

    return Side(gradients, arrays)
