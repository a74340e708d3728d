"""Times of several functions, taken by turns, so that all meet one machine.

What else runs on a machine slows whatever is being timed. Functions that run
A B C A B C share that; the ratio within each round is worth more than a time.
"""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np

Clock = Callable[[], float]

#: A turn lasts at least so many seconds: short calls are timed in bunches.
TURN = 0.005

#: So many rounds are timed, however long they take.
FEWEST_ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Spread:
    """How numbers lie: median, quartiles, and the smallest and largest."""

    median: float
    lower_quartile: float
    upper_quartile: float
    smallest: float
    largest: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> "Spread":
        """The spread of `numbers`, at least one."""
        low, lower, middle, upper, high = np.percentile(
            list(numbers), [0, 25, 50, 75, 100]
        )
        return cls(*map(float, (middle, lower, upper, low, high)))


def elapsed(
    function: Callable[[], object], clock: Clock = time.perf_counter
) -> float:
    """How long one call takes."""
    start = clock()
    function()
    return clock() - start


def interleaved(
    functions: Mapping[str, Callable[[], float]],
    rounds: int,
    seconds: float = float("inf"),
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Calls every function once a round; each goes first in its turn.

    Args:
        functions: Each does its work to the end and returns the seconds that
            it took. All were called before.
        rounds: How many rounds.
        seconds: No new round is begun after so many; `FEWEST_ROUNDS` always
            are.
        clock: Returns seconds.

    Returns:
        The seconds of each function, round by round.
    """
    names = list(functions)
    times: dict[str, list[float]] = {name: [] for name in names}
    start = clock()
    for number in range(rounds):
        if number >= FEWEST_ROUNDS and clock() - start > seconds:
            break
        first = number % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(functions[name]())
    return times


def calls_in_a_turn(seconds: float) -> int:
    """How many calls of so many seconds fill a turn."""
    return max(1, round(TURN / max(seconds, 1e-7)))


def in_bunches(
    function: Callable[[], object],
    calls: int,
    clock: Clock = time.perf_counter,
) -> Callable[[], float]:
    """Seconds of one call, as the mean of `calls` in a row."""

    def bunch() -> None:
        for _ in range(calls):
            function()

    return lambda: elapsed(bunch, clock) / calls


def ratios(
    times: Mapping[str, list[float]], ours: str = "ours"
) -> dict[str, Spread]:
    """Our time over each other's, round by round."""
    return {
        name: Spread.of(a / b for a, b in zip(times[ours], others, strict=True))
        for name, others in times.items()
        if name != ours and ours in times
    }
