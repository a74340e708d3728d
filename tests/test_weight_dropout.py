"""Dropout of the weights: a pattern that place and seed alone decide."""

import keras
import numpy as np
import pytest

import keras_attention as ka
from keras_attention import weight_dropout

RATE = 0.3


def _kept(steps=1, shape=(4, 160, 160), **options):
    """Which weights are kept: values are unit vectors, weights are equal."""
    batch, queries, keys = shape
    value = np.tile(np.eye(keys, dtype="float32"), (batch, 1, 1))
    query = np.zeros((batch, queries, keys), "float32")
    attend = ka.Attention("dot", dropout=RATE, seed=2, **options)
    return [
        np.asarray(attend(query, value, training=True)) > 0
        for _ in range(steps)
    ]


def _dropped(weights, leading, rate=RATE, queries=None, keys=None):
    Tq, Tv = weights.shape[-2:]
    seed = np.array([3, 5], "int32")
    noise = weight_dropout.noise(seed, np.zeros((*leading, Tq, 2)))
    query = np.arange(Tq)[:, None] if queries is None else queries
    key = np.arange(Tv) if keys is None else keys
    return noise, weight_dropout.drop(weights, rate, noise, query, key)


@pytest.mark.parametrize("leading", [(), (4,), (2, 3), (2, 3, 2)])
def test_noise_differs_for_each_example_and_head(leading):
    noise, dropped = _dropped(np.ones((*leading, 9, 9), "float32"), leading)
    assert noise.shape == (*leading, 1, 1)
    count = int(np.prod(leading))
    assert len(set(np.ravel(noise))) == count
    patterns = np.reshape(dropped, (count, -1)) > 0
    assert len({pattern.tobytes() for pattern in patterns}) == count


def test_noise_depends_on_both_numbers_of_the_seed_and_on_no_length():
    seeds = [(3, 5), (3, 6), (4, 5)]
    noises = [
        np.ravel(weight_dropout.noise(np.array(seed), np.zeros((2, 3, 4))))
        for seed in seeds
    ]
    assert len({int(number) for noise in noises for number in noise}) == 6
    longer = weight_dropout.noise(np.array(seeds[0]), np.zeros((2, 9, 1)))
    np.testing.assert_array_equal(np.ravel(longer), noises[0])


def test_drop_scales_what_it_keeps():
    weights = np.random.default_rng(0).random((2, 9, 9)).astype("float32") + 1
    dropped = np.asarray(_dropped(weights, (2,))[1])
    kept = dropped > 0
    assert kept.any() and not kept.all()
    np.testing.assert_allclose(
        dropped[kept], weights[kept] / (1 - RATE), rtol=1e-6
    )
    whole = _dropped(weights, (2,), rate=0.0)[1]
    np.testing.assert_array_equal(whole, weights)


def test_drop_of_some_rows_and_keys_is_that_part_of_the_whole():
    """As blocks and windows take it: the place counts, not the shape."""
    weights = np.ones((2, 9, 8), "float32")
    whole = np.asarray(_dropped(weights, (2,))[1])
    part = _dropped(
        weights[:, 3:7, 2:],
        (2,),
        queries=np.arange(3, 7)[:, None],
        keys=np.arange(2, 8),
    )[1]
    np.testing.assert_array_equal(part, whole[:, 3:7, 2:])
    shifted = _dropped(weights, (2,), queries=np.arange(-4, 5)[:, None])[1]
    np.testing.assert_array_equal(shifted[:, 4:], whole[:, :5])


def test_rate_is_right_within_three_sigma():
    (kept,) = _kept()
    assert kept.size > 1e5
    sigma = (RATE * (1 - RATE) / kept.size) ** 0.5
    assert abs(np.mean(kept) - (1 - RATE)) < 3 * sigma
    for axis in (0, 1, 2):  # No row, column or example is special.
        others = tuple({0, 1, 2} - {axis})
        share = kept.mean(others)
        count = kept.size / kept.shape[axis]
        sigma = (RATE * (1 - RATE) / count) ** 0.5
        assert np.abs(share - (1 - RATE)).max() < 5 * sigma


def test_neighbours_are_independent():
    (kept,) = _kept()
    centred = kept - kept.mean()
    for axis in (0, 1, 2):
        product = centred * np.roll(centred, 1, axis)
        sigma = RATE * (1 - RATE) / kept.size**0.5
        assert abs(product.mean()) < 4 * sigma


def test_expectation_is_the_output_without_dropout():
    x = np.random.randn(1, 6, 4).astype("float32")
    attend = ka.Attention("dot", dropout=RATE, seed=2)
    expected = np.asarray(attend(x, x))
    runs = np.stack([attend(x, x, training=True) for _ in range(400)])
    sigma = runs.std(0) / 400**0.5
    assert (np.abs(runs.mean(0) - expected) < 4 * sigma + 1e-6).all()


def test_pattern_differs_from_step_to_step_and_not_from_run_to_run():
    first, second = _kept(steps=2, shape=(1, 20, 20))
    assert (first != second).any()
    np.testing.assert_array_equal(_kept(2, (1, 20, 20)), [first, second])


@pytest.mark.parametrize("jit_compile", [True, False])
@pytest.mark.parametrize("query_block_size", [1, 7, 100])
def test_pattern_does_not_depend_on_blocks(jit_compile, query_block_size):
    shape = (2, 20, 12)
    kept = _kept(
        2, shape, jit_compile=jit_compile, query_block_size=query_block_size
    )
    np.testing.assert_array_equal(kept, _kept(2, shape, jit_compile=False))


def test_hidden_keys_stay_at_zero():
    x = np.ones((2, 5, 4), "float32")
    mask = np.arange(5) < np.array([[3], [0]])
    attend = ka.Attention("dot", dropout=RATE, seed=2)
    value = np.tile(np.eye(5, dtype="float32"), (2, 1, 1))
    context = attend(x, value, x, value_mask=mask, training=True)
    hidden = ~np.broadcast_to(mask[:, None], (2, 5, 5))
    np.testing.assert_array_equal(np.asarray(context)[hidden], 0.0)
    assert np.asarray(context).any()


def test_returned_weights_are_those_before_dropout():
    x = np.ones((1, 5, 4), "float32")
    attend = ka.Attention("dot", dropout=0.9)
    _context, weights = attend(
        x, x, training=True, return_attention_scores=True
    )
    np.testing.assert_allclose(weights, np.full((1, 5, 5), 0.2), rtol=1e-6)


def test_a_reloaded_layer_starts_at_its_seed(tmp_path):
    """As Keras's own dropout does; the file holds no state of the seed."""
    inputs = keras.Input((5, 4))
    attend = ka.Attention("dot", dropout=0.5, seed=4)
    model = keras.Model(inputs, attend(inputs, inputs))
    x = np.random.randn(2, 5, 4).astype("float32")
    steps = [np.asarray(model(x, training=True)) for _ in range(2)]
    model.save(tmp_path / "model.keras")
    reloaded = keras.models.load_model(tmp_path / "model.keras")
    for step in steps:
        np.testing.assert_allclose(reloaded(x, training=True), step, rtol=1e-6)


@pytest.mark.parametrize("dropout", [1, -0.1, True, "0.5", float("nan")])
def test_rate_is_a_fraction(dropout):
    for make in (
        ka.Attention,
        ka.LocalMonotonicAttention,
        lambda dropout: ka.MultiHeadAttention(1, 1, dropout=dropout),
    ):
        with pytest.raises(ValueError, match="`dropout` must be a fraction"):
            make(dropout=dropout)
