"""What loops with a gradient of their own are made of. TensorFlow only.

A loop that is differentiated by the backend keeps lists of inner results,
which TensorFlow can neither hand from a compiled forward program to a compiled
backward one, nor compile for unknown shapes. So a loop's gradient is written
out as a second loop, in which each step is computed again.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.shapes import Tensor, known, known_as


def are_written(*tensors: Tensor) -> bool:
    """Whether gradients by these are written out; only shapes have none."""
    if keras.backend.backend() != "tensorflow":
        return False
    return not any(isinstance(x, keras.KerasTensor) for x in tensors)


def gradient_of(
    function: Callable[[list[Tensor]], Any],
    sources: list[Tensor],
    upstream: list[Tensor],
) -> list[Tensor]:
    """The gradients of `function(sources)`, 0 where there is none.

    Args:
        function: Of real tensors, to as many as `upstream` has.
        sources: What it is differentiated by.
        upstream: The gradients of its results.
    """
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(sources)
        results = function(sources)
    gradients: list[Tensor] = tape.gradient(
        results,
        sources,
        output_gradients=upstream,
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return gradients


def copied(tensors: list[Tensor]) -> list[Tensor]:
    """The same, each a source of its own, in the graph that is being made.

    A tensor may be given twice, as key and as value. And the graph that it is
    from is gone when a second gradient is asked.
    """
    import tensorflow as tf

    return [tf.identity(x) for x in tensors]


def loop(step: Callable[..., Any], stop: Any, start: Any) -> Any:
    """The last state of `step(number, state) -> (number + 1, state)`."""
    return ops.while_loop(
        lambda number, _state: number < stop,
        step,
        (ops.convert_to_tensor(0, "int32"), start),
        maximum_iterations=stop if isinstance(stop, int) else None,
    )[1]


def recorded(
    step: Callable[..., Any],
    steps: Any,
    state: Any,
    like: list[Tensor],
    backwards: bool = False,
) -> tuple[Any, list[Tensor]]:
    """The last state, and what is to be kept of each step, `(steps, ...)`.

    Kept in TensorFlow's own lists: to put a step into a tensor of all steps
    copies the whole, unless XLA compiles the loop.

    Args:
        step: `step(number, state) -> (state, tensors)`.
        steps: How many.
        state: Before the first step; shapes and dtypes stay.
        like: As the tensors of a step.
        backwards: Whether the last number comes first.
    """
    import tensorflow as tf

    def of_one(done: Tensor, given: Any) -> tuple[Tensor, Any]:
        lists, state = given
        number = steps - 1 - done if backwards else done
        new, tensors = step(number, state)
        lists = [
            tf.raw_ops.TensorListSetItem(
                input_handle=handle, index=number, item=tf.cast(x, y.dtype)
            )
            for handle, x, y in zip(lists, tensors, like, strict=True)
        ]
        return done + 1, (lists, keras.tree.map_structure(known_as, new, state))

    lists = [
        tf.raw_ops.TensorListReserve(
            element_shape=tf.shape(x), num_elements=steps, element_dtype=x.dtype
        )
        for x in like
    ]
    lists, state = loop(of_one, steps, (lists, state))
    return state, [
        known(
            tf.raw_ops.TensorListStack(
                input_handle=handle,
                element_shape=tf.shape(x),
                element_dtype=x.dtype,
                num_elements=steps if isinstance(steps, int) else -1,
            ),
            (None, *x.shape),
        )
        for handle, x in zip(lists, like, strict=True)
    ]


def merged(tensors: list[Tensor], real: Any) -> list[Tensor]:
    """`tensors` with the real ones among them replaced by `real`, in order."""
    given = iter(real)
    return [next(given) if is_real(tensor) else tensor for tensor in tensors]


def is_real(tensor: Tensor) -> bool:
    """Whether a tensor has a gradient."""
    return "float" in keras.backend.standardize_dtype(tensor.dtype)
