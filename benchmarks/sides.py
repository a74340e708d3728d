"""One of the things that are compared in a row."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import timing

#: How far results may lie apart, as a part of the largest number.
TOLERANCE = {"float32": 1e-3, "mixed_bfloat16": 5e-2}

#: Of an array whose numbers should be 0, as the gradient of the keys' bias,
#: the largest is a rounding error: take this part of the largest of all.
FLOOR = 1e-1


@dataclasses.dataclass(frozen=True)
class Side:
    """Ours, a peer, or a limit.

    Args:
        run: Does the work once, to its end.
        results: What has to be equal among the sides, from what the first
            call of `run` returned. None is not compared, as a limit.
        bunch: Given a number of calls, a function that makes them and
            returns the seconds of one; by default this process's clock.
    """

    run: Callable[[], Any]
    results: Callable[[Any], list[np.ndarray]] | None = None
    bunch: Callable[[int], Callable[[], float]] | None = None

    def timed(self, calls: int) -> Callable[[], float]:
        """A function that returns the seconds of one call, of `calls`."""
        bunch = self.bunch or functools.partial(timing.in_bunches, self.run)
        return bunch(calls)


def arrays(tensors: Any) -> list[np.ndarray]:
    """One tensor or several, of any library, as wide arrays."""
    if not isinstance(tensors, list | tuple):
        tensors = [tensors]
    return [np.asarray(x).astype("float64") for x in tensors]


def check_equal(
    results: dict[str, list[np.ndarray]], dtype: str = "float32"
) -> None:
    """Refuses to time sides that do different things."""
    if not results:
        return
    (first, expected), *others = results.items()
    floor = FLOOR * max(np.abs(a).max(initial=1e-6) for a in expected)
    for name, received in others:
        for a, b in zip(expected, received, strict=True):
            scale = np.abs(a).max(initial=floor)
            np.testing.assert_allclose(
                b.reshape(a.shape) / scale,
                a / scale,
                rtol=0,
                atol=TOLERANCE[dtype],
                err_msg=f"{name} is not as {first}",
            )
