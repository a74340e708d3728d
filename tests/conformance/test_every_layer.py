"""Every check on every public class, with no list to keep in step."""

import inspect
from collections.abc import Iterator
from typing import Any

import keras
import pytest

from keras_attention import testing
from keras_attention.serialization import EXPORTED
from tests.conformance.cases import CASES, Case

#: Checks of the layer as most people build it, and hence of its compiled call;
#: all others take the one with every argument off its default.
USUAL = ("xla_equals_eager", "trains", "onnx", "litert")

#: Checks that are quick, and worth to be run on both.
MASKING = tuple(
    check.name
    for check in testing.CHECKS
    if inspect.getmodule(check.function) is testing.masking
)


def every_promise() -> Iterator[Any]:
    for case in CASES:
        for check in testing.CHECKS:
            why = case.exceptions.get(check.name)
            marks = [pytest.mark.xfail(reason=why, strict=True)] if why else []
            name = f"{case.name}-{check.name}"
            yield pytest.param(case, check, id=name, marks=marks)


@pytest.fixture(scope="module")
def subjects() -> dict[str, testing.Subject]:
    """A loaded layer of each class; one fresh process loads all of them."""
    subjects = {case.name: testing.Subject(case.build_loaded) for case in CASES}
    testing.Shelf(list(subjects.values()))
    return subjects


@pytest.mark.parametrize("case, check", list(every_promise()))
def test_promise(
    case: Case, check: testing.Check, subjects: dict[str, testing.Subject]
) -> None:
    usual = check.name in USUAL
    subject = testing.Subject(case.build) if usual else subjects[case.name]
    try:
        check(subject)
    except testing.NotPromised as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_usual_layer_masks(case: Case) -> None:
    reasons = {k: v for k, v in case.exceptions.items() if k in MASKING}
    reasons |= case.usual
    testing.check_layer(case.build, checks=MASKING, exceptions=reasons)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_argument_is_off_its_default(case: Case) -> None:
    loaded = case.build_loaded().get_config()
    for name, default in defaults(case.cls).items():
        at_default = case.cls(**{**case.required, **default}).get_config()
        assert loaded[name] != at_default[name], name


def defaults(cls: type[keras.Layer]) -> dict[str, dict[str, Any]]:
    """Each argument of the constructors, with its default if it has one."""
    signatures = [
        inspect.signature(vars(base)["__init__"])
        for base in cls.__mro__[: cls.__mro__.index(keras.Layer)]
        if "__init__" in vars(base)
    ]
    return {
        parameter.name: {}
        if parameter.default is parameter.empty
        else {parameter.name: parameter.default}
        for signature in reversed(signatures)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
        and parameter.kind
        not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


def test_every_public_class_has_a_case() -> None:
    assert [case.cls for case in CASES] == EXPORTED
