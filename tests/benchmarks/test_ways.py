import keras
import numpy as np
import pytest

from benchmarks import ways
from benchmarks.cases import Case
from benchmarks.sides import check_equal
from benchmarks.suites import layers

TINY = Case(batch=2, steps=4, dim=8, heads=2)


def model():
    x = keras.Input((4, 8))
    layer = keras.layers.Dense(8, kernel_initializer=keras.initializers.Ones())
    return keras.Model(x, layer(x))


def results(way):
    side = ways.side(model(), way, 2)
    return side.results(side.run())


@pytest.mark.parametrize("way", ways.FORWARD)
def test_forward(way):
    check_equal({"eager": results("eager"), way: results(way)})


@pytest.mark.parametrize("way", ["fit", "fit_jit"])
def test_training_returns_the_loss_and_the_gradients(way):
    x = ways.inputs_of(model(), 2)[0].numpy().reshape(-1, 8)
    output = x @ np.ones((8, 8), "float32")
    y = ways.like(output.reshape(2, 4, 8)).numpy().reshape(-1, 8)
    loss, dW, db = results(way)
    np.testing.assert_allclose(loss, np.mean((output - y) ** 2), rtol=1e-5)
    error = 2 * (output - y)
    np.testing.assert_allclose(dW, x.T @ error, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(db, error.sum(0), rtol=1e-2, atol=1e-2)


def test_gradient_returns_the_output_and_all_gradients():
    x = ways.inputs_of(model(), 2)[0].numpy()
    output, dx, dW, db = results("gradient")
    pull = ways.like(output).numpy()
    np.testing.assert_allclose(output, x @ np.ones((8, 8)), rtol=1e-4)
    np.testing.assert_allclose(dx, pull @ np.ones((8, 8)), rtol=1e-4)
    np.testing.assert_allclose(
        dW, np.einsum("btd,bte->de", x, pull), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(db, pull.sum((0, 1)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("way", "dtype"), [("fit", "float32"), ("jit", "mixed_bfloat16")]
)
def test_multi_head_is_as_keras(way, dtype):
    case = Case(batch=2, steps=4, dim=8, heads=2, dtype=dtype)
    found = {}
    for name, pair in layers.multi_head(case).items():
        side = ways.side(pair, way, case.batch)
        found[name] = side.results(side.run())
    check_equal(found, dtype)


@pytest.mark.parametrize("build", [layers.bahdanau, layers.dot])
def test_other_layers_are_as_keras(build):
    found = {}
    for name, pair in build(TINY).items():
        side = ways.side(pair, "eager", TINY.batch)
        found[name] = side.results(side.run())
    check_equal(found)


def test_overheads_has_every_way():
    found = ways.overheads(seconds=0.0)
    assert list(found) == [*ways.FORWARD, *ways.TRAINING]
    assert all(spread["median"] > 0 for spread in found.values())
