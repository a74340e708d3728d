"""Decoding with given tokens and greedily, on the same weights."""

import keras
import numpy as np
import pytest

from tests.oracles.tensorflow_addons import inputs, ours

every_decoder = pytest.mark.parametrize("name", inputs.DECODERS)


@every_decoder
def test_given_tokens(addons, name):
    """Behind the tokens of an example, its state stays as it was."""
    given = inputs.decoders()
    lengths = given["targets_lengths"]
    assert lengths.min() < lengths.max() == inputs.T
    is_real = inputs.real(lengths, inputs.T)
    logits, states = ours.decoder(given, name)(
        given["targets"],
        given["value"],
        ours.mask(given),
        is_real,
        [given["h"], given["c"]],
        return_state=True,
    )
    theirs = addons["decoders"]
    logits = keras.ops.convert_to_numpy(logits)
    ours.assert_equal(logits[is_real], theirs[f"{name}-logits"][is_real])
    for state, letter in zip(states, "hc", strict=True):
        ours.assert_equal(state, theirs[f"{name}-{letter}"])


@every_decoder
def test_greedy(addons, name):
    """Theirs goes on behind the end."""
    given = inputs.decoders()
    tokens, lengths, *_ = ours.generate(ours.decoder(given, name), given)
    theirs = addons["decoders"]
    assert np.unique(lengths).size > 1
    np.testing.assert_array_equal(lengths, theirs[f"{name}-greedy_lengths"])
    is_real = inputs.real(lengths, inputs.MAX_LENGTH)
    np.testing.assert_array_equal(
        tokens[is_real], theirs[f"{name}-greedy"][is_real]
    )
    assert (tokens[~is_real] == inputs.END).all()
