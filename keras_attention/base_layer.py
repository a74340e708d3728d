"""What every layer of the package shares, whatever its family."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import keras

from keras_attention import arguments, boundary, compilation
from keras_attention.serialization import SerializableLayer
from keras_attention.shapes import Shape as Shape
from keras_attention.shapes import Tensor as Tensor


class BaseLayer(SerializableLayer):
    """Abstract: a layer with checked inputs and an XLA-compiled call.

    A subclass writes `build` and `call` as plain Keras; `call` must not keep
    a tensor on `self`.

    Args:
        jit_compile: Whether XLA compiles the call, as `compilation` tells.
        **kwargs: `keras.Layer` arguments, such as `name` and `dtype`.
    """

    kernel_initializer: Any

    def __init__(self, *, jit_compile: bool = True, **kwargs: Any) -> None:
        boundary.refuse_call_arguments(type(self), kwargs)
        super().__init__(**kwargs)
        self.jit_compile = arguments.boolean("jit_compile", jit_compile)

    def add_kernel(self, shape: Shape, name: str) -> Any:
        """A weight that starts as the layer's `kernel_initializer` says.

        Each gets an initializer of its own: one instance gives every weight of
        the same shape the same values.
        """
        initializer = self.kernel_initializer
        if isinstance(initializer, keras.initializers.Initializer):
            config = initializer.get_config()
            initializer = type(initializer).from_config(config)
        return self.add_weight(shape, initializer, name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        is_new = getattr(self, name, None) is not value
        super().__setattr__(name, value)
        if is_new and not name.startswith("_"):
            compilation.forget_fingerprints()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "call" in vars(cls):
            cls.call = _checked_and_compiled(cls.call)


class PerStepLayer(BaseLayer):
    """Abstract: one output per step of the first input; its mask is kept."""

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor) -> Tensor:
        """The mask of the first input."""
        return previous_mask


class PooledLayer(BaseLayer):
    """Abstract: the output has no time axis of the input's, hence no mask."""

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor) -> None:
        """No mask: the steps are gone."""


def _checked_and_compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(call)
    _self, *names = signature.parameters

    @functools.wraps(call)
    def checked_call(self: BaseLayer, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(names, args, strict=False))
        given |= {name: kwargs[name] for name in names if name in kwargs}
        if len(given) != len(args) + len(kwargs):  # An error that says why.
            signature.bind_partial(self, *args, **kwargs)
        checked = boundary.checked(self, signature, given)
        return compilation.run(self, call, checked)

    # Else Keras refuses `layer([query, value])` without the right call.
    checked_call.__signature__ = boundary.CallSignature.of(  # type: ignore
        signature
    )
    return checked_call
