import pytest

from benchmarks import timing
from tests.benchmarks.clock import Clock


def test_spread():
    spread = timing.Spread.of([5.0, 1.0, 3.0, 2.0, 4.0])
    assert spread == timing.Spread(3.0, 2.0, 4.0, 1.0, 5.0)


def test_elapsed():
    clock = Clock()
    assert timing.elapsed(clock.work("ours", [2.5]), clock) == 2.5


def test_the_ratio_is_taken_round_by_round():
    """Slowness of the machine that all meet does not show in the ratio."""
    clock = Clock()
    times = timing.interleaved(
        {
            "ours": clock.timed("ours", [1.0, 10.0, 100.0]),
            "keras": clock.timed("keras", [2.0, 20.0, 200.0]),
            "limit": clock.timed("limit", [0.5, 5.0, 50.0]),
        },
        rounds=6,
        clock=clock,
    )
    assert timing.ratios(times) == {
        "keras": timing.Spread(0.5, 0.5, 0.5, 0.5, 0.5),
        "limit": timing.Spread(2.0, 2.0, 2.0, 2.0, 2.0),
    }
    assert timing.Spread.of(times["ours"]).median == 10.0


def test_functions_run_by_turns_and_each_goes_first():
    clock = Clock()
    functions = {name: clock.timed(name, [1.0]) for name in "abc"}
    timing.interleaved(functions, rounds=4, clock=clock)
    assert "".join(clock.calls) == "abc" + "bca" + "cab" + "abc"


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, 3), (9.0, 5), (1e9, 30)])
def test_time_limit(seconds, rounds):
    clock = Clock()
    functions = {name: clock.timed(name, [1.0]) for name in ("ours", "keras")}
    timing.interleaved(functions, rounds=30, seconds=seconds, clock=clock)
    assert clock.calls.count("ours") == rounds


def test_short_calls_are_timed_in_bunches():
    clock = Clock()
    calls = timing.calls_in_a_turn(timing.TURN / 4)
    bunch = timing.in_bunches(clock.work("ours", [1.0, 3.0]), calls, clock)
    assert bunch() == 2.0
    assert len(clock.calls) == 4
    assert timing.calls_in_a_turn(10 * timing.TURN) == 1
