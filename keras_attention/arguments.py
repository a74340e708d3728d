"""Constructor arguments, checked and turned into plain Python values.

keras-tuner hands over NumPy numbers; a config must hold Python ones.
"""

import numbers
from collections.abc import Callable
from typing import Any

import keras
import numpy as np


def integer(name: str, value: Any, at_least: int = 1) -> int:
    """`value` as `int`; NumPy integers are integers, booleans are not."""
    whole = isinstance(value, numbers.Integral)
    if not whole or isinstance(value, (bool, np.bool_)) or value < at_least:
        kind = {0: "a non-negative", 1: "a positive"}.get(at_least)
        expected = f"{kind} integer" if kind else f"at least {at_least}"
        raise ValueError(
            f"`{name}` must be {expected}. Received: {name}={value!r}"
        )
    return int(value)


def optional_integer(name: str, value: Any, at_least: int = 1) -> int | None:
    """An integer, or None for "inferred when the layer is built"."""
    return None if value is None else integer(name, value, at_least)


def class_id(name: str, value: Any) -> int | None:
    """An id, also a negative one that no class has, or None."""
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(
            f"`{name}` must be an integer or None. Received: {name}={value!r}"
        )
    return int(value)


def seed(value: Any) -> int | None:
    """A seed as `int`, or None for one that nobody chose."""
    return optional_integer("seed", value, at_least=0)


def number(name: str, value: Any, at_least: float | None = None) -> float:
    """`value` as a finite `float`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    small = real and at_least is not None and value < at_least
    if not real or small or not np.isfinite(float(value)):
        floor = "" if at_least is None else f" of at least {at_least:g}"
        raise ValueError(
            f"`{name}` must be a finite number{floor}. "
            f"Received: {name}={value!r}"
        )
    return float(value)


def rate(name: str, value: Any) -> float:
    """A fraction to drop: `0 <= value < 1`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a fraction, 0 <= {name} < 1. "
            f"Received: {name}={value!r}"
        )
    return float(value)


def boolean(name: str, value: Any) -> bool:
    """`value` as `bool`; 0, 1 and strings are not booleans."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(
            f"`{name}` must be True or False. Received: {name}={value!r}"
        )
    return bool(value)


def activation(name: str, value: Any) -> Callable[[Any], Any]:
    """A function, or Keras's of a name; None is the identity."""
    try:
        function: Callable[[Any], Any] = keras.activations.get(value)
    except ValueError as error:
        raise ValueError(
            f"`{name}` must be an activation of Keras's, a function or None. "
            f"Received: {name}={value!r}"
        ) from error
    return function


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the words in `choices`."""
    if value not in choices:
        expected = " or ".join(repr(word) for word in choices)
        raise ValueError(
            f"`{name}` must be {expected}. Received: {name}={value!r}"
        )
    return str(value)
