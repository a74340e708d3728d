import types

import numpy as np
import pytest

from benchmarks import comparison, memory, sides
from benchmarks.cases import Case
from benchmarks.settings import Settings
from benchmarks.sides import Side, arrays

QUICK = Settings(quick=True)


def side(*numbers):
    """Returns one array after the other, then the last again."""
    left = list(numbers)

    def run():
        return left.pop(0) if len(left) > 1 else left[0]

    return Side(run, arrays)


def test_equal_results_may_be_shaped_and_typed_differently():
    one = np.linspace(0, 1, 6, dtype="float32")
    sides.check_equal(
        {"ours": arrays(one.reshape(2, 3)), "keras": arrays(one + 1e-6)}
    )


def test_different_results_are_refused():
    one = np.ones(3)
    with pytest.raises(AssertionError, match="keras: 0.01 off"):
        sides.check_equal({"ours": arrays(one), "keras": arrays(one + 1e-2)})


def test_a_gradient_that_is_0_but_for_rounding_is_compared_by_the_largest():
    large, zero = np.full(3, 10.0), np.zeros(3)
    near = {"ours": [large, zero], "keras": [large, zero + 1e-4]}
    sides.check_equal(near)
    far = {"ours": [large, zero], "keras": [large, zero + 1e-2]}
    with pytest.raises(AssertionError):
        sides.check_equal(far)


def test_a_limit_is_timed_and_not_compared():
    one = np.ones(3)
    row = comparison.compare(
        {"ours": side(one), "keras": side(one), "limit": Side(lambda: None)},
        "float32",
        QUICK,
    )
    assert row["differences"] == {"keras": 0.0}
    assert set(row["ratios"]) == {"keras", "limit"}
    assert row["rounds"] == 3
    for measures in row["sides"].values():
        assert measures["seconds"]["median"] > 0
        assert measures["first_seconds"] > 0


@pytest.mark.parametrize("number", [2.0, np.nan])
def test_a_side_that_does_something_else_is_not_timed(number):
    row = comparison.compare(
        {"ours": side(np.ones(3)), "keras": side(np.full(3, number))},
        "float32",
        QUICK,
    )
    assert "not as ours" in row["sides"]["keras"]["error"]
    assert row["sides"]["ours"]["seconds"] and row["ratios"] == {}


def test_only_the_first_results_are_compared():
    """Each step of a training changes the weights."""
    one, two = np.ones(3), np.full(3, 2.0)
    row = comparison.compare(
        {"ours": side(one, two), "keras": side(one)}, "float32", QUICK
    )
    assert row["differences"] == {"keras": 0.0}
    row = comparison.compare(
        {"ours": side(two, one), "keras": side(one)}, "float32", QUICK
    )
    assert row["differences"] == {"keras": 0.5}


def test_a_side_that_finds_no_memory_is_not_timed(monkeypatch):
    one = np.ones(3)
    found = {"ours": {"peak_mebibytes": 1.0}, "keras": {"error": "code 1"}}
    monkeypatch.setattr(memory, "of_side", lambda *args: dict(found[args[2]]))
    suite = types.ModuleType("benchmarks.suites.some")
    suite.MEMORY = ("ours", "keras")
    suite.sides = lambda case: {"ours": side(one), "keras": side(2 * one)}
    row = comparison.row(suite, Case(), QUICK)
    assert row["sides"]["keras"] == found["keras"]
    assert row["sides"]["ours"]["peak_mebibytes"] == 1.0
    assert row["sides"]["ours"]["seconds"]["median"] > 0
    assert row["ratios"] == {}


def test_a_first_call_compiles_though_an_equal_layer_did():
    import keras

    import keras_attention as ka
    from benchmarks import timing

    x = keras.ops.ones((1, 4, 8))

    def first_seconds():
        attend = ka.Attention("additive")
        attend.build(x.shape, x.shape)
        return timing.elapsed(lambda: attend(x, x))

    first_seconds()
    shared = first_seconds()
    comparison.forget_programs()
    assert first_seconds() > 3 * shared
