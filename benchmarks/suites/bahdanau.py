"""BahdanauAttention beside keras.layers.AdditiveAttention with two Dense."""

from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

MEMORY = ("ours", "keras")
WAYS = ("eager", "predict", "jit", "fit", "fit_jit")


def cases(quick: bool) -> list[Case]:
    """Two lengths in five ways."""
    lengths, dim = ((16,), 8) if quick else ((512, 2048), 64)
    return [
        Case(steps=steps, dim=dim, way=way) for steps in lengths for way in WAYS
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours and Keras's."""
    return {
        name: ways.side(model, case.way, case.batch)
        for name, model in layers.bahdanau(case).items()
    }
