"""Times of two functions, taken by turns, so that both meet the same machine.

What else runs on a machine slows whatever is being timed. Two functions that
run A B A B share that; the ratio of each pair is worth more than either time.
"""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

Function = Callable[[], object]
Clock = Callable[[], float]


@dataclasses.dataclass(frozen=True)
class Spread:
    """How numbers lie: median, quartiles, and the smallest and largest."""

    median: float
    lower_quartile: float
    upper_quartile: float
    smallest: float
    largest: float

    @classmethod
    def of(cls, numbers: list[float]) -> "Spread":
        """The spread of `numbers`, at least one."""
        low, lower, middle, upper, high = np.percentile(
            numbers, [0, 25, 50, 75, 100]
        )
        return cls(*map(float, (middle, lower, upper, low, high)))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two functions, ours and the peer's.

    Args:
        ours: Seconds of our calls.
        theirs: The peer's.
        ratio: Our time over the peer's, pair by pair.
    """

    ours: Spread
    theirs: Spread
    ratio: Spread


def compare(
    ours: Function,
    theirs: Function,
    pairs: int,
    seconds: float = float("inf"),
    clock: Clock = time.perf_counter,
) -> Comparison:
    """Times two warm functions by turns.

    Args:
        ours: Does its work to the end: its result must be a NumPy array, not
            a promise of one. Was called before.
        theirs: Likewise.
        pairs: How many pairs to time.
        seconds: No new pair is begun after so many; three are always timed.
        clock: Returns seconds.
    """
    times: list[tuple[float, float]] = []
    start = clock()
    while len(times) < pairs:
        if len(times) >= 3 and clock() - start > seconds:
            break
        times.append(_pair(ours, theirs, clock, ours_first=len(times) % 2 == 0))
    return Comparison(
        Spread.of([a for a, _ in times]),
        Spread.of([b for _, b in times]),
        Spread.of([a / b for a, b in times]),
    )


def elapsed(function: Function, clock: Clock = time.perf_counter) -> float:
    """How long one call takes."""
    start = clock()
    function()
    return clock() - start


def _pair(
    ours: Function,
    theirs: Function,
    clock: Clock,
    ours_first: bool,
) -> tuple[float, float]:
    """One call of each; who goes first changes, as what ran before matters."""
    if ours_first:
        a = elapsed(ours, clock)
        return a, elapsed(theirs, clock)
    b = elapsed(theirs, clock)
    return elapsed(ours, clock), b
