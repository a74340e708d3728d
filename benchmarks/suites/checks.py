"""What it costs to look for NaN and infinity in the inputs.

Every layer does, so that neither leaks from behind a mask. `unchecked` is ours
without; Keras's layer does not look.
"""

from collections.abc import Callable
from typing import Any

import keras

import keras_attention as ka
from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers
from keras_attention import masks

WAYS = ("jit", "gradient")
SIZES = {
    "multi_head": {"batch": 2, "steps": 128, "dim": 256, "heads": 4},
    "feed_forward": {"batch": 32, "steps": 512, "dim": 256},
    "squeeze_excitation": {"batch": 32, "steps": 512, "dim": 256},
}
QUICK = {"batch": 1, "steps": 16, "dim": 8, "heads": 2}

#: Of one sequence.
LAYERS: dict[str, Callable[[], keras.Layer]] = {
    "feed_forward": ka.FeedForwardAttention,
    "squeeze_excitation": ka.SequenceSqueezeExcitation,
}


def cases(quick: bool) -> list[Case]:
    """Three layers in two ways."""
    return [
        Case(**(QUICK if quick else size), layer=layer, way=way)
        for layer, size in SIZES.items()
        for way in WAYS
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, ours without the checks, and Keras's, if there is one."""
    models = _models(case)
    compared = {
        name: ways.side(model, case.way, case.batch)
        for name, model in models.items()
    }
    unchecked = ways.side(models["ours"], case.way, case.batch)
    unchecked = ways.traced_with(unchecked, masks, "finite", _unchecked)
    return {**compared, "unchecked": unchecked}


def _models(case: Case) -> dict[str, keras.Model]:
    if case.layer == "multi_head":
        return layers.multi_head(case)
    x = keras.Input((case.steps, case.dim))
    return {"ours": keras.Model(x, LAYERS[case.layer]()(x))}


def _unchecked(x: Any) -> tuple[Any, Any]:
    """As if no step were broken."""
    return x, keras.ops.zeros(keras.ops.shape(x)[:-1], "bool")
