"""One of the things that are compared in a row."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import timing

#: How far results may lie apart: the root mean square of the difference, as a
#: part of ours. Keras's own gradients in bfloat16 are 7 % off at 2,048 steps.
TOLERANCE = {"float32": 1e-3, "mixed_bfloat16": 0.2}

#: Of an array whose numbers should be 0, as the gradient of the keys' bias,
#: there is a rounding error alone: take this part of the largest array's.
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


def differences(results: dict[str, list[np.ndarray]]) -> dict[str, float]:
    """How far each side's results lie from the first one's."""
    if not results:
        return {}
    (_, expected), *others = results.items()
    floor = max([FLOOR * _size(a) for a in expected] + [1e-30])
    return {
        name: float(
            np.max(
                [
                    _size(b.reshape(a.shape) - a) / max(_size(a), floor)
                    for a, b in zip(expected, received, strict=True)
                ]
            )
        )
        for name, received in others
    }


def check_equal(
    results: dict[str, list[np.ndarray]], dtype: str = "float32"
) -> None:
    """Raises an AssertionError if sides do different things."""
    for name, difference in differences(results).items():
        assert difference <= TOLERANCE[dtype], f"{name}: {difference:.2g} off"


def _size(x: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0
