"""A cell in an AttentionWrapper, step by step."""

import numpy as np
import tensorflow as tf

from tests.oracles.tensorflow_addons import inputs
from tests.oracles.tensorflow_addons.theirs.mechanisms import mechanism

MODES = {None: None, "soft": "recursive", "hard": "hard"}


def run(tfa):
    """What every wrapper gives at each step."""
    given = inputs.wrapper()
    found = {}
    for case in inputs.WRAPPERS:
        steps = _steps(wrapper(tfa, given, *case), given)
        for name, rows in steps.items():
            found[f"{case}-{name}"] = np.stack(rows, axis=1)
    return found


def wrapper(tfa, given, name, mode, fed, **options):
    """One with the given weights."""
    cell = tf.keras.layers.LSTMCell(inputs.CELL)
    made = tfa.seq2seq.AttentionWrapper(
        cell,
        mechanism(tfa, name, given, MODES[mode]),
        **_layer(fed),
        **options,
    )
    kernel = given["kernel_context" if fed == "context" else "kernel_layer"]
    cell.build((None, kernel.shape[0]))
    cell.set_weights([kernel, given["recurrent_kernel"], given["bias"]])
    if fed != "context":
        both = inputs.CELL + inputs.VALUE
        made._attention_layers[0].build((None, both))
        made._attention_layers[0].set_weights([_of_cell_first(given["W"])])
    return made


def first_state(wrapper, given, copies=1):
    """The state before the first step, the cell's given."""
    cell_state = [np.repeat(given[name], copies, axis=0) for name in "hc"]
    state = wrapper.get_initial_state(
        batch_size=copies * inputs.B, dtype=tf.float32
    )
    return state.clone(cell_state=[tf.constant(x) for x in cell_state])


def _layer(fed):
    if fed == "context":
        return {}
    if fed == "linear":
        return {"attention_layer_size": inputs.UNITS}
    layer = tf.keras.layers.Dense(inputs.UNITS, fed, use_bias=False)
    return {"attention_layer": layer}


def _of_cell_first(W):
    """Theirs is a layer of [s; c], ours of [c; s]."""
    return np.concatenate([W[inputs.VALUE :], W[: inputs.VALUE]])


def _steps(wrapper, given):
    state = first_state(wrapper, given)
    found = {"outputs": [], "alignments": [], "h": [], "c": []}
    for x in given["inputs"].swapaxes(0, 1):
        output, state = wrapper(tf.constant(x), state)
        row = (output, state.alignments, *state.cell_state)
        for rows, new in zip(found.values(), row, strict=True):
            rows.append(new)
    return found
