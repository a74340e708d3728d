"""What an eager call of a small layer costs, beside Keras's.

One example of 16 steps and 64 features, called as `layer(...)` in a loop of
the user's own.
"""

from collections.abc import Callable

from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

LAYERS: dict[str, Callable[[Case], layers.Pair]] = {
    "multi_head": layers.multi_head,
    "additive": layers.bahdanau,
    "dot": layers.dot,
}


def cases(quick: bool) -> list[Case]:
    """A row for each layer."""
    return [Case(steps=16, way="eager", layer=layer) for layer in LAYERS]


def sides(case: Case) -> dict[str, Side]:
    """Ours and Keras's."""
    return {
        name: ways.side(model, case.way, case.batch)
        for name, model in LAYERS[case.layer](case).items()
    }
