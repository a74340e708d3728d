"""What a broken promise says."""

import types
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Arrays of at most so many numbers are shown, larger ones by their shape.
SHOWN = 12


class Violation(AssertionError):
    """A layer does not keep a promise.

    Args:
        check: The name of the check.
        promised: What the layer should do.
        seen: What it did.
        smallest_input: The arguments of the smallest call that shows it.
    """

    def __init__(
        self,
        check: str,
        promised: str,
        seen: str,
        smallest_input: Mapping[str, Any],
    ) -> None:
        self.check = check
        self.promised = promised
        self.seen = seen
        self.smallest_input = dict(smallest_input)
        super().__init__(
            f"{check}\n"
            f"  promised: {promised}\n"
            f"  seen: {seen}\n"
            f"  smallest input: {described(self.smallest_input)}"
        )


class NotPromised(Exception):
    """The promise is about something that the layer does not have."""


class Failure:
    """Keeps what went wrong in its block: all that a layer may raise counts."""

    error: Exception | None = None

    def __enter__(self) -> "Failure":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, NotPromised):
            return False
        self.error = error
        return True

    @property
    def seen(self) -> str:
        """The failure in words; a check's own words stand for themselves."""
        if type(self.error) is AssertionError:
            return str(self.error)
        return f"{type(self.error).__name__}: {self.error}"


def described(arguments: Mapping[str, Any]) -> str:
    """The arguments of a call, short enough for a message."""
    words = [f"{name}={_shown(value)}" for name, value in arguments.items()]
    return "layer(" + ", ".join(words) + ")"


def _shown(value: Any) -> str:
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return repr(value)
    shape = tuple(value.shape)
    if isinstance(value, np.ndarray) and value.size <= SHOWN:
        return np.array2string(value, precision=3, separator=",").replace(
            "\n", ""
        )
    return f"<{value.dtype} {shape}>"


def expect(kept: Any, seen: str) -> None:
    """Fails with what was `seen`, unless `kept`."""
    if not kept:
        raise AssertionError(seen)


def expect_equal(
    actual: Any, desired: Any, what: str, tolerance: float = 0.0
) -> None:
    """Fails unless two arrays are equal, or close; NaN equals NaN.

    Args:
        actual: An array, or a tensor that NumPy reads.
        desired: Likewise.
        what: The name of the arrays in the message.
        tolerance: Absolute and relative. 0 asks for the very same numbers.
    """
    actual, desired = np.asarray(actual), np.asarray(desired)
    expect(
        actual.shape == desired.shape,
        f"{what} of shape {actual.shape} where {desired.shape} is right",
    )
    close = np.isclose(actual, desired, tolerance, tolerance, equal_nan=True)
    if close.all():
        return
    place = tuple(int(i) for i in np.argwhere(~close)[0])
    raise AssertionError(
        f"{what}{list(place)} is {actual[place]!r} where {desired[place]!r} "
        f"is right; {int((~close).sum())} of {close.size} numbers differ"
    )
