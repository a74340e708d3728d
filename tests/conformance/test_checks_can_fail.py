"""A check that cannot fail is no check: each must catch a broken layer."""

import importlib.util

import keras
import pytest

from keras_attention import testing
from tests.conformance.broken import BROKEN


@pytest.fixture(scope="module")
def subjects() -> dict[str, testing.Subject]:
    """One fresh process loads all of them."""
    subjects = {k: testing.Subject(build) for k, (build, _) in BROKEN.items()}
    saved = ("keras_file", "weights_file", "saved_model")
    testing.Shelf([subjects[name] for name in saved])
    return subjects


@pytest.mark.parametrize("check", testing.CHECKS, ids=lambda c: c.name)
def test_check_catches(
    check: testing.Check, subjects: dict[str, testing.Subject]
) -> None:
    missing = [m for m in check.needs if not importlib.util.find_spec(m)]
    if missing:
        pytest.skip(f"{check.name} needs {missing[0]}")
    _build, seen = BROKEN[check.name]
    with pytest.raises(testing.Violation) as caught:
        check(subjects[check.name])
    assert seen in caught.value.seen
    assert caught.value.promised == check.promised
    assert caught.value.smallest_input


def test_the_smallest_input_is_reported() -> None:
    build, _seen = BROKEN["padding_is_invisible"]
    with pytest.raises(testing.Violation, match="smallest input") as caught:
        testing.check_layer(build, checks=["padding_is_invisible"])
    assert caught.value.smallest_input["query"].shape == (1, 1, 4)
    assert caught.value.smallest_input["value"].shape == (1, 2, 6)


def test_an_exception_must_fail() -> None:
    known = {"future_is_invisible": "it is blind to time"}
    build, _seen = BROKEN["future_is_invisible"]
    outcome = testing.check_layer(build, checks=known, exceptions=known)
    assert outcome == known
    with pytest.raises(testing.Violation, match="take the exception away"):
        testing.check_layer(
            BROKEN["padding_is_invisible"][0], checks=known, exceptions=known
        )


def test_unknown_check() -> None:
    with pytest.raises(ValueError, match="must name checks"):
        testing.check_layer(keras.layers.Identity, checks=["no_such_check"])
