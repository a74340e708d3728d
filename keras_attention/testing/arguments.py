"""Promises about arguments: numbers of NumPy, and what is refused how."""

import inspect
from typing import Any

import keras
import numpy as np

from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import Failure, expect

#: What no argument of a kind may be.
BAD: dict[type | None, list[Any]] = {
    bool: ["yes", 2],
    int: [-1, 1.5, True, "many"],
    float: ["much", float("nan"), True],
    str: ["no_such_name", 5],
}


@promise("NumPy's numbers are numbers: a config holds plain Python ones.")
def numpy_numbers(subject: Subject, sizes: Sizes) -> None:
    """Every integer, float and boolean of the config, out of NumPy."""
    layer = subject.unbuilt()
    right = layer.get_config()
    config = type(layer).from_config(right).get_config()
    numbers = {
        name: _numpy_number(config[name])
        for name in own_arguments(type(layer))
        if isinstance(config[name], (bool, int, float))
    }
    rest = {
        name: keras.saving.deserialize_keras_object(value)
        for name, value in config.items()
        if name not in numbers
    }
    subject.last_call = numbers
    found = type(layer)(**rest, **numbers).get_config()
    for name in numbers:
        same = found[name] == right[name]
        plain = type(found[name]) is type(right[name])
        expect(same and plain, f"{name}={found[name]!r} in the config")


@promise("A bad constructor argument gets an error that names it.")
def bad_arguments_are_named(subject: Subject, sizes: Sizes) -> None:
    """Each argument by turns; the message also says what was received."""
    layer = subject.unbuilt()
    config = layer.get_config()
    for name in own_arguments(type(layer)):
        for bad in BAD.get(_kind(name, config[name]), []):
            subject.last_call = {name: bad}
            failure = Failure()
            with failure:
                type(layer).from_config({**config, name: bad})
            expect(
                isinstance(failure.error, (ValueError, TypeError))
                and f"`{name}`" in failure.seen
                and "Received" in failure.seen,
                f"for {name}={bad!r}: {failure.seen}",
            )


@promise("A bad call gets an error that shows the right one.")
def bad_calls_are_refused(subject: Subject, sizes: Sizes) -> None:
    """A list of tensors; a mask of floats; a flag in the constructor."""
    arguments = subject.arguments(sizes)
    first, *rest = arguments.values()
    _expect_refusal(
        subject,
        lambda: subject.unbuilt()([first, *(rest or [first])]),
        "a list of tensors",
        subject.parameters[0],
    )
    mask = subject.masks(sizes).get(subject.mask_name)
    if mask is not None:
        floats = {**arguments, subject.mask_name: mask.astype("float32")}
        _expect_refusal(
            subject,
            lambda: subject.call(subject.unbuilt(), floats),
            "a mask of floats",
            subject.mask_name,
        )
    if subject.takes("return_attention_scores"):
        layer = subject.unbuilt()
        flag = {"return_attention_scores": True}
        _expect_refusal(
            subject,
            lambda: type(layer)(**_required(layer), **flag),
            "a flag of the call in the constructor",
            "return_attention_scores",
        )


def _expect_refusal(subject: Subject, act: Any, what: str, name: str) -> None:
    failure = Failure()
    with failure:
        act()
    expect(
        isinstance(failure.error, (ValueError, TypeError))
        and name in failure.seen,
        f"for {what}: {failure.seen}",
    )


def _required(layer: keras.Layer) -> dict[str, Any]:
    parameters = inspect.signature(type(layer).__init__).parameters.values()
    config = layer.get_config()
    return {
        p.name: config[p.name]
        for p in list(parameters)[1:]
        if p.default is p.empty and p.name in config
    }


def own_arguments(cls: type) -> list[str]:
    """Arguments of the constructor that are not every Keras layer's."""
    own: list[str] = []
    for base in cls.__mro__:
        if base is keras.Layer:
            break
        if "__init__" in vars(base):
            parameters = inspect.signature(vars(base)["__init__"]).parameters
            own += [
                p.name
                for p in list(parameters.values())[1:]
                if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
            ]
    keras_own = inspect.signature(keras.Layer.__init__).parameters
    return [name for name in dict.fromkeys(own) if name not in keras_own]


def _kind(name: str, value: Any) -> type | None:
    """What sort of value an argument takes, by its value."""
    if name.endswith(("initializer", "regularizer")):
        return None  # Keras's own objects, and their own errors.
    if isinstance(value, dict):
        return str
    return type(value) if value is not None else None


def _numpy_number(value: Any) -> Any:
    return {bool: np.bool_, int: np.int64, float: np.float64}[type(value)](
        value
    )
