"""Models of other packages, saved in every way, and loaded here."""

import numpy as np
import pytest

from tests.oracles.other_packages import inputs, ours

CASES = [
    (name, version)
    for version in inputs.ENDINGS
    for name in inputs.names(version)
]


def cases(*names):
    """Of these models, each version of Keras that can hold it."""
    chosen = [case for case in CASES if case[0] in names]
    return pytest.mark.parametrize("name, version", chosen)


def _loaded(folder, name, version):
    """Ours with their weights, and what theirs find."""
    path = folder(name, version) / name
    layer = ours.make(name)
    layer.load_file(path / "saved.weights.h5")
    return layer, np.load(path / "found.npz")


@cases(*inputs.PACKAGES)
def test_every_file_gives_the_same_outputs(folder, name, version):
    path = folder(name, version) / name
    expected = np.load(path / "found.npz")["without"]
    layer = ours.make(name)
    for ending in inputs.ENDINGS[version]:
        layer.load_file(path / f"saved{ending}")
        ours.assert_equal(layer.call(inputs.x()), expected)


@cases(
    "kaggle",
    "kaggle_without_bias",
    "average",
    "context",
    "context_without_bias",
)
def test_the_same_with_padding(folder, name, version):
    layer, found = _loaded(folder, name, version)
    found_here = layer.call(inputs.x(), inputs.IS_REAL)
    ours.assert_equal(found_here, found["implicit"])
    np.testing.assert_array_equal(found_here[-1], np.zeros(inputs.DIM))


@cases("weighted")
def test_theirs_averages_a_sequence_that_is_all_padding(folder, name, version):
    layer, found = _loaded(folder, name, version)
    found_here = layer.call(inputs.x(), inputs.IS_REAL)
    ours.assert_equal(found_here[:-1], found["implicit"][:-1])
    np.testing.assert_array_equal(found_here[-1], np.zeros(inputs.DIM))
    ours.assert_equal(found["implicit"][-1], found["without"][-1])


@cases("additive", "multiplicative", "window")
def test_theirs_hides_padding_from_padding_alone(folder, name, version):
    """A real step still reads padding: ours does so without a mask."""
    layer, found = _loaded(folder, name, version)
    real = inputs.IS_REAL
    ours.assert_equal(found["implicit"][real], found["without"][real])
    masked = layer.call(inputs.x(), real)
    ours.assert_equal(masked[0], found["implicit"][0])
    steps = real[1].sum()
    cut = layer.call(inputs.x()[1:2, :steps])[0]
    ours.assert_equal(masked[1, :steps], cut)
    assert _differ(masked[1, :steps], found["implicit"][1, :steps])


@cases("luong", "bahdanau", "column")
def test_theirs_reads_padding_as_any_step(folder, name, version):
    layer, found = _loaded(folder, name, version)
    ours.assert_equal(found["implicit"], found["without"])
    masked = layer.call(inputs.x(), inputs.IS_REAL)
    ours.assert_equal(masked[0], found["implicit"][0])
    assert _differ(masked[1], found["implicit"][1])


def _differ(a, b):
    return np.abs(a - b).max() > 0.01
