"""Monotonic attention, in its three modes."""

import numpy as np

from tests.oracles.tensorflow_addons import inputs
from tests.oracles.tensorflow_addons.theirs.mechanisms import ask, mechanism

MODES = ("recursive", "parallel", "hard")


def run(tfa):
    """The weights of every mechanism and mode, and of a few steps."""
    given = inputs.attention()
    return {
        **{
            f"{name}-{mode}": ask(mechanism(tfa, name, given, mode), given)
            for name in inputs.MECHANISMS
            for mode in MODES
        },
        "stuck": _steps(tfa, inputs.stuck(), "hard"),
        **{
            f"{name}-{mode}": _steps(tfa, probabilities, mode)
            for name, probabilities in (
                ("long", inputs.long()),
                ("sure", inputs.sure()),
            )
            for mode in ("recursive", "parallel")
        },
    }


def _steps(tfa, probabilities, mode):
    before = np.eye(1, probabilities.shape[1], dtype="float32")
    rows = []
    for p in probabilities:
        before = tfa.seq2seq.monotonic_attention(p[None], before, mode)
        rows.append(before[0])
    return np.stack(rows)
