"""AttentionWrapper around an LSTM, step by step, on the same weights.

Theirs feeds [inputs; attention], as ours in Luong's order does, whichever
mechanism it has; its attention layer is one of [cell output; context].
"""

import keras
import numpy as np
import pytest

from keras_attention.migration import tensorflow_addons as migration
from tests.oracles.tensorflow_addons import inputs, ours


@pytest.mark.parametrize("case", inputs.WRAPPERS, ids=str)
def test_steps(addons, case):
    given = inputs.wrapper()
    cell = _cell(given, case)
    ours.fill_cell(cell, given, *case)
    _assert_equal_steps(cell, given, addons, case)


@pytest.mark.parametrize("case", inputs.WRAPPERS, ids=str)
def test_loaded(folder, addons, case):
    given = inputs.wrapper()
    cell = _cell(given, case)
    number = inputs.WRAPPERS.index(case)
    arrays = migration.read(folder / f"wrapper-{number}")
    migration.load_cell(cell, arrays, "wrapper")
    _assert_equal_steps(cell, given, addons, case)


def _cell(given, case):
    cell = ours.cell(*case)
    cell.build((inputs.B, inputs.EMBEDDING), given["value"].shape)
    return cell


def _assert_equal_steps(cell, given, addons, case):
    *_, fed = case
    theirs = {
        name: addons["wrapper"][f"{case}-{name}"]
        for name in ("outputs", "alignments", "h", "c")
    }
    outputs, alignments, h, c = _steps(cell, given)
    if fed == "context":  # Ours gives [context; cell output].
        ours.assert_equal(outputs[..., inputs.VALUE :], theirs["h"])
        outputs = outputs[..., : inputs.VALUE]
    ours.assert_equal(outputs, theirs["outputs"])
    ours.assert_equal(alignments, theirs["alignments"])
    ours.assert_equal(h, theirs["h"])
    ours.assert_equal(c, theirs["c"])


def _steps(cell, given):
    memory = cell.attention.remember(given["value"], None, ours.mask(given))
    state = cell.initial_state(memory, [given["h"], given["c"]])
    rows = []
    for x in given["inputs"].swapaxes(0, 1):
        h, weights, state = cell.step(x, state, memory)
        rows.append([h, weights, *keras.tree.flatten(state["cell"])])
    return [np.stack(steps, axis=1) for steps in zip(*rows, strict=True)]
