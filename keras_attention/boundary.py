"""What may enter a layer: single tensors, boolean masks, no constructor mix-up.

Everything that is refused is refused here, for every layer at once.
"""

import inspect
from typing import Any

import keras
from keras import ops

from keras_attention.shapes import Shape

#: The only argument that is a list of tensors.
STATE = "initial_state"


def refuse_call_arguments(cls: type, kwargs: dict[str, Any]) -> None:
    """Tells where `kwargs` belong that are arguments of the call."""
    call = inspect.signature(cls.call)  # type: ignore[attr-defined]
    init = inspect.signature(keras.Layer.__init__)
    for name in kwargs:
        if name in call.parameters and name not in init.parameters:
            raise TypeError(
                f"`{name}` is an argument of the call, not of the "
                f"constructor: `{cls.__name__}(...)({_first(call)}, "
                f"{name}={kwargs[name]!r})`."
            )


def checked(
    layer: keras.Layer, signature: inspect.Signature, given: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call, with every mask turned into booleans."""
    for name, value in given.items():
        if value is not None and name != STATE:
            _check_single_tensor(layer, signature, name, value)
    if "value" in signature.parameters and given.get("value") is None:
        query_and_value_shapes(layer, (), None)
    return {
        name: as_mask(name, value) if is_mask(name) else value
        for name, value in given.items()
    }


class CallSignature(inspect.Signature):
    """As Keras sees a call of ours: `call(query, value)`, with `value` None.

    A setting that is not given gets no default. Of every argument Keras asks
    whether it is a tensor; on Python 3.11 each "no" takes it 9 microseconds.
    """

    @classmethod
    def of(cls, signature: inspect.Signature) -> "CallSignature":
        """The same arguments, `value` optional."""
        return cls(
            [
                parameter.replace(default=None)
                if parameter.name == "value"
                else parameter
                for parameter in signature.parameters.values()
            ]
        )

    def bind(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """What was given."""
        return _Given(self, super().bind(*args, **kwargs).arguments)


class _Given(inspect.BoundArguments):
    """Arguments of a call."""

    def apply_defaults(self) -> None:
        """Tensors that are not given are None."""
        for name, parameter in self.signature.parameters.items():
            if parameter.default is None and name != "training":
                self.arguments.setdefault(name, None)


def is_mask(name: str) -> bool:
    """Whether a call argument of this name says who may be seen."""
    return name == "mask" or name.endswith("_mask")


def as_mask(name: str, mask: Any) -> Any:
    """`mask` as booleans; integers must be 0 or 1, other dtypes are refused.

    The values of integers are checked where they are known: in an eager call,
    not in a graph.
    """
    if mask is None or isinstance(mask, bool):
        return mask
    dtype = keras.backend.standardize_dtype(mask.dtype)
    if dtype == "bool":
        return mask
    if "int" not in dtype:
        raise ValueError(
            f"`{name}` must hold booleans, or integers 0 and 1; True and 1 "
            f"mean visible. Received: {name} with dtype {dtype}"
        )
    if _is_concrete(mask):
        strange = set(ops.convert_to_numpy(mask).ravel().tolist()) - {0, 1}
        if strange:
            raise ValueError(
                f"`{name}` must hold booleans, or integers 0 and 1. "
                f"Received: {name} with the values {sorted(strange)[:5]}"
            )
    return ops.cast(mask, "bool")


def query_and_value_shapes(
    layer: keras.Layer, query_shape: Any, value_shape: Any
) -> tuple[Shape, Shape]:
    """The shapes of two tensors, or an error that shows the right call."""
    for name, shape in (("query", query_shape), ("value", value_shape)):
        if shape is None or not _is_shape(shape):
            received = "nothing" if shape is None else "several tensors"
            raise ValueError(
                f"`{name}` must be one tensor: call "
                f"`{_name(layer)}(...)(query, value)` with separate "
                f"arguments. Received: {name} of {received}"
            )
    return tuple(query_shape), tuple(value_shape)


def one_shape(
    layer: keras.Layer, shape: Any
) -> tuple[tuple[int | None, ...], int | None, int]:
    """Leading axes, steps and size of one sequence.

    Raises:
        ValueError: It is not one sequence; the error shows the right call.
    """
    if not _is_shape(shape) or len(shape) < 3:
        raise ValueError(
            f"`inputs` must be one tensor of shape (batch, T, dim): call "
            f"`{_name(layer)}(...)(inputs)`. Received: inputs with shape "
            f"{shape}"
        )
    *leading, steps, dim = shape
    return tuple(leading), steps, dim


def known_steps(layer: keras.Layer, name: str, steps: int | None) -> int:
    """The length of a time axis that has weights of its own."""
    if steps is None:
        raise ValueError(
            f"`{_name(layer)}` has one weight per step of `{name}`, so its "
            f"length must be known when the layer is built. "
            f"Received: {name} with length None"
        )
    return steps


def _check_single_tensor(
    layer: keras.Layer, signature: inspect.Signature, name: str, value: Any
) -> None:
    if isinstance(value, (list, tuple, dict)):
        raise ValueError(
            f"`{name}` must be one tensor: call `{_name(layer)}("
            f"{_first(signature)}, ...)` with separate arguments. "
            f"Received: {name} of type {type(value).__name__}"
        )
    if hasattr(type(value), "row_splits"):
        raise ValueError(
            f"`{name}` must be a dense tensor. Received a ragged one: pass "
            f"`{name}.to_tensor()`, and the mask "
            "`tf.sequence_mask(x.row_lengths())`"
        )


def _is_concrete(tensor: Any) -> bool:
    """Whether the values are known now, in an eager call."""
    if isinstance(tensor, keras.KerasTensor):
        return False
    if keras.backend.backend() == "jax":
        import jax

        return not isinstance(tensor, jax.core.Tracer)
    return (
        hasattr(tensor, "numpy")
        and str(getattr(tensor, "device", "")) != "meta"
    )


def _is_shape(shape: Any) -> bool:
    if isinstance(shape, dict):
        return False
    return all(size is None or isinstance(size, int) for size in shape)


def _first(signature: inspect.Signature) -> str:
    """The tensors that a call starts with: `query, value` or `inputs`."""
    names = [name for name in signature.parameters if name != "self"]
    return "query, value" if names[0] == "query" else names[0]


def _name(layer: keras.Layer) -> str:
    return type(layer).__name__
