"""MultiHeadAttention with masks, beside Keras's with the same.

Where some queries see a key and others do not, ours looks for NaN and infinity,
so that neither leaks from behind a mask; `unchecked` is ours without. Keras's
layer does not look.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras

from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

WAYS = ("predict", "jit", "fit", "fit_jit")


def _padding(attend: Callable[..., Any], x: Any) -> Any:
    """A mask of queries and keys, as of padded texts; it hides none here."""
    x = keras.layers.Masking()(x)
    return attend(x, x)


def _causal(attend: Callable[..., Any], x: Any) -> Any:
    return attend(x, x, use_causal_mask=True)


#: How a layer is called with each mask.
CALLS: dict[str, Callable[..., Any]] = {"padding": _padding, "causal": _causal}


def cases(quick: bool) -> list[Case]:
    """Two masks at three lengths in four ways; one, if quick."""
    size = {"batch": 2, "dim": 256, "heads": 4}
    lengths, chosen = (128, 512, 2048), WAYS
    if quick:
        size, lengths = {"batch": 1, "dim": 8, "heads": 2}, (16,)
        chosen = ("jit",)
    return [
        Case(**size, steps=steps, layer=mask, way=way)
        for mask in CALLS
        for steps in lengths
        for way in chosen
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, Keras's, and ours without looking."""
    models = {name: _model(name, case) for name in ("ours", "keras")}
    unchecked = _model("ours", case)
    for model in (models["ours"], unchecked):
        model.set_weights(models["keras"].get_weights())
    without = ways.unchecked(ways.side(unchecked, case.way, case.batch))
    return {
        **{
            name: ways.side(model, case.way, case.batch)
            for name, model in models.items()
        },
        "unchecked": dataclasses.replace(without, results=None),
    }


def _model(name: str, case: Case) -> keras.Model:
    make = {"ours": layers.OURS, "keras": layers.KERAS}[name]["multi_head"]
    x = keras.Input((case.steps, case.dim))
    return keras.Model(x, CALLS[case.layer](make(case), x))
