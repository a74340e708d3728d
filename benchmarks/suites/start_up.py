"""What a fresh process waits for: the import, and the first result.

Every figure is a child process of its own, by turns. `import`: Keras alone,
and Keras with keras_attention, whose own part is `added_seconds`.
`first_result`: from the start of the process to the result of one eager call.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from benchmarks import children, comparison, timing
from benchmarks.cases import Case
from benchmarks.settings import Settings

ROUNDS = 7

IMPORT_KERAS = """
import sys, time
import keras
print(time.time() - float(sys.argv[1]))
"""

IMPORT_BOTH = """
import sys, time
import keras
between = time.time()
import keras_attention
print([time.time() - float(sys.argv[1]), time.time() - between])
"""

FIRST_RESULT = """
import sys, time
import keras
{imports}
x = keras.ops.ones((1, 16, 64))
{call}
print(time.time() - float(sys.argv[1]))
"""

#: By layer: our call, and Keras's.
CALLS = {
    "multi_head": (
        "keras_attention.MultiHeadAttention(4, 16)(x, x)",
        "keras.layers.MultiHeadAttention(4, 16)(x, x)",
    ),
    "additive": (
        "keras_attention.BahdanauAttention(64)(x, x)",
        "W, U = (keras.layers.Dense(64, use_bias=False) for _ in range(2)); "
        "keras.layers.AdditiveAttention()([W(x), x, U(x)])",
    ),
    "dot": (
        "keras_attention.Attention('dot')(x, x)",
        "keras.layers.Attention()([x, x])",
    ),
}


def cases(quick: bool) -> list[Case]:
    """The import, and a row for each layer; the import alone, if quick."""
    layers = [] if quick else [*CALLS]
    size = {"steps": 16, "dim": 64}
    return [
        Case(**size, way="import"),
        *(
            Case(**size, way="first_result", layer=layer, heads=4)
            for layer in layers
        ),
    ]


def row(case: Case, settings: Settings) -> comparison.Row:
    """Seconds of the children of both sides."""
    added: list[float] = []

    def both() -> float:
        seconds, of_ours = _answer(IMPORT_BOTH)
        added.append(of_ours)
        return float(seconds)

    sides: dict[str, Callable[[], float]]
    if case.way == "import":
        sides = {"ours": both, "keras": lambda: _answer(IMPORT_KERAS)}
    else:
        ours, theirs = CALLS[case.layer]
        sides = {
            "ours": lambda: _first_result(ours, "import keras_attention"),
            "keras": lambda: _first_result(theirs),
        }
    rounds = 1 if settings.quick else min(settings.rounds, ROUNDS)
    times = timing.interleaved(sides, rounds)
    found: dict[str, Any] = {
        name: {"seconds": _spread(seconds)} for name, seconds in times.items()
    }
    if added:
        found["ours"]["added_seconds"] = _spread(added)
    ratios = {
        name: dataclasses.asdict(ratio)
        for name, ratio in timing.ratios(times).items()
    }
    return {
        "case": case.key(),
        "sides": found,
        "ratios": ratios,
        "rounds": rounds,
    }


def _spread(numbers: list[float]) -> dict[str, float]:
    return dataclasses.asdict(timing.Spread.of(numbers))


def _first_result(call: str, imports: str = "") -> float:
    return float(_answer(FIRST_RESULT.format(imports=imports, call=call)))


def _answer(code: str) -> Any:
    return children.answer("-c", code, str(time.time()))
