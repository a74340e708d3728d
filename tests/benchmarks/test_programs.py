"""The least of a compiled layer is a layer, compiled, that does little."""

import keras
import numpy as np
import pytest

import keras_attention as ka
from benchmarks import programs, ways
from keras_attention import program_gradient


def softmax(scores):
    portions = np.exp(scores)
    return portions / portions.sum(-1, keepdims=True)


@pytest.fixture
def model():
    x = keras.Input((5, 4))
    return keras.Model(x, ka.MultiHeadAttention(2, 3)(x, x))


@pytest.mark.parametrize("way", [*ways.FORWARD, *ways.TRAINING])
def test_start_has_the_weights_and_the_output_of_the_model(model, way):
    start = programs.start(model, way)
    assert start.output_shape == model.output_shape
    assert [w.shape for w in start.trainable_weights] == [
        w.shape for w in model.trainable_weights
    ]
    output = np.asarray(start(np.ones((3, 5, 4), "float32"))).ravel()
    total = sum(np.sum(w) for w in start.get_weights())
    np.testing.assert_allclose(output[0], total, rtol=1e-5)
    assert len(output) == 3 * 5 * 4 and not output[1:].any()


@pytest.mark.parametrize("way", ["predict", "jit"])
def test_pairs_are_attention_to_all_keys(way):
    x, y = keras.Input((5, 4)), keras.Input((3, 4))
    pairs = programs.pairs(keras.Model([x, y], ka.Attention("dot")(x, y)), way)
    query, key = np.ones((2, 5, 4)) / 9, np.full((2, 3, 4), 0.5)
    (W,) = pairs.get_weights()
    expected = softmax(query @ W @ np.swapaxes(key, 1, 2)) @ key
    np.testing.assert_allclose(pairs([query, key]), expected, rtol=1e-5)


@pytest.mark.parametrize("way", ["predict", "jit"])
def test_places_are_attention_to_places(way):
    x, y = keras.Input((5, 4)), keras.Input((3, 4))
    model = keras.Model([x, y], ka.Attention("dot")(x, y))
    places = programs.places(model, way)
    query, value = np.ones((2, 5, 4)) / 9, np.full((2, 3, 4), 0.5)
    (W,) = places.get_weights()
    expected = softmax(query @ W) @ value
    np.testing.assert_allclose(places([query, value]), expected, rtol=1e-5)


@pytest.mark.parametrize("way", ["predict", "jit"])
def test_units_are_attention_of_one_query(way):
    x, y = keras.Input((1, 4)), keras.Input((3, 4))
    model = keras.Model([x, y], ka.Attention("dot")(x, y))
    units = programs.units(model, way)
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(2, 1, 4)), rng.normal(size=(2, 3, 4))
    W, U, v = units.get_weights()
    scores = np.exp(query @ W + key @ U) @ v
    expected = softmax(np.swapaxes(scores, 1, 2)) @ key
    np.testing.assert_allclose(units([query, key]), expected, rtol=1e-5)


@pytest.mark.parametrize("way", ["fit", "fit_jit"])
def test_its_weights_are_trained(model, way):
    start = programs.start(model, way)
    before = start.get_weights()
    ways.side(start, way, batch=3).run()
    assert all(
        (old != new).all()
        for old, new in zip(before, start.get_weights(), strict=True)
    )


@pytest.mark.parametrize("way", ["predict", "fit", "fit_jit"])
def test_it_is_a_program_where_ours_is(model, way, monkeypatch):
    start = programs.start(model, way)
    made = []
    original = program_gradient.program

    def spy(function, like):
        made.append(original(function, like))
        return made[-1]

    monkeypatch.setattr(program_gradient, "program", spy)
    ways.side(start, way, batch=3).run()
    # In training the function is traced, then both halves are made of it.
    assert len(made) == {"predict": 1, "fit": 3, "fit_jit": 0}[way]
    assert all(x.function_def.attr["_XlaMustCompile"].b for x in made)
