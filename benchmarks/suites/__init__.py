"""One module for each benchmark.

A module has

- a docstring, whose first line is the title;
- `cases(quick)`: the rows, as `Case`s;
- `sides(case)`: what a row compares, by name, built and not yet called; the
  first is "ours";

and may have

- `MEMORY`: the sides whose peak memory is measured too;
- `REST`: seconds of pause before each turn, for libraries whose threads go on
  spinning;
- `row(case, settings)`: measures a row itself, instead of by `sides`;
- `summary(rows)`: what follows from all rows.
"""

import importlib
from types import ModuleType

NAMES = (
    "multi_head",
    "fused_kernel",
    "bahdanau",
    "small_call",
    "local_predictive",
    "mechanisms",
    "overhead",
    "masked",
    "fit",
    "start_up",
    "new_lengths",
    "longest",
    "forms",
    "decoding",
)


def load(name: str) -> ModuleType:
    """The module of a benchmark."""
    return importlib.import_module(f"{__name__}.{name}")
