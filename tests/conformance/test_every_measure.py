"""What every public loss and metric promises."""

import inspect
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.serialization import MEASURES, Serializable
from tests.conformance.measures import MEASURED, TARGETS, WORDS

every_measure = pytest.mark.parametrize(
    "measured", MEASURED, ids=lambda measured: measured.cls.__name__
)
every_loss = pytest.mark.parametrize(
    "measured",
    [measured for measured in MEASURED if measured.is_loss],
    ids=lambda measured: measured.cls.__name__,
)


@pytest.fixture
def float64():
    keras.config.set_floatx("float64")
    yield
    keras.config.set_floatx("float32")


@pytest.fixture
def float16():
    keras.config.set_floatx("float16")
    yield
    keras.config.set_floatx("float32")


def test_every_public_loss_and_metric_is_measured():
    assert [measured.cls for measured in MEASURED] == MEASURES


@every_measure
def test_every_argument_is_off_its_default(measured):
    for base in measured.cls.__mro__:
        if base is Serializable:
            break
        parameters = inspect.signature(base.__init__).parameters.values()
        for p in parameters if "__init__" in vars(base) else ():
            if p.kind is not p.VAR_KEYWORD and p.name != "self":
                assert measured.loaded[p.name] != p.default, p.name


@every_measure
def test_config_tells_all(measured):
    measure = measured.cls(**measured.loaded)
    config = json.loads(json.dumps(measure.get_config()))
    assert config == measured.loaded
    again = measured.cls.from_config(config)
    assert again.get_config() == config
    assert float(again(*measured.arguments())) == float(
        measure(*measured.arguments())
    )


@every_measure
def test_keras_finds_it_by_its_registered_name(measured):
    measure = measured.cls(**measured.loaded)
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(measure)))
    assert saved["registered_name"].startswith("keras_attention>")
    again = keras.saving.deserialize_keras_object(saved)
    assert type(again) is measured.cls
    assert again.get_config() == measure.get_config()


@every_measure
def test_padding_is_invisible(measured):
    y_true, y_pred = measured.arguments()
    right = float(measured.build()(y_true, y_pred))
    assert right > 0
    noisy = np.where(measured.padding(), np.nan, y_pred)
    assert float(measured.build()(y_true, noisy)) == pytest.approx(right)
    rest = (0, 0 if measured.is_of_tokens else 2)
    y_true = np.pad(y_true, [(0, 1), (0, 3), rest][: y_true.ndim])
    y_pred = np.pad(y_pred, [(0, 1), (0, 3), rest], constant_values=0.5)
    assert float(measured.build()(y_true, y_pred)) == pytest.approx(right)


@every_measure
def test_steps_behind_a_keras_mask_are_invisible(measured):
    y_true, y_pred = measured.arguments()
    right = float(measured.build()(y_true, y_pred))
    y_pred = tf.constant(np.where(measured.padding(), np.nan, y_pred))
    keras.src.backend.set_keras_mask(y_pred, tf.constant(TARGETS > 0))
    y_true = y_true + (TARGETS == 0).reshape(
        TARGETS.shape + (1,) * (y_true.ndim - 2)
    ).astype(y_true.dtype)
    measure = measured.cls()
    assert float(measure(y_true, y_pred)) == pytest.approx(right)


@every_measure
@pytest.mark.parametrize("form", ["examples", "column", "steps"])
def test_what_has_no_weight_is_invisible(measured, form):
    y_true, y_pred = measured.arguments()
    kept = np.array([0, 1, 1, 1])
    right = float(measured.build()(y_true[1:], y_pred[1:]))
    weight = {
        "examples": kept,
        "column": kept[:, None],
        "steps": np.repeat(kept[:, None], TARGETS.shape[1], 1),
    }[form]
    if form == "steps" and hasattr(measured.cls, "unit_axes"):
        if measured.cls.unit_axes != (-1,):
            with pytest.raises(ValueError, match="`sample_weight` must have"):
                measured.build()(y_true, y_pred, weight)
            return
    found = float(measured.build()(y_true, y_pred, weight))
    assert found == pytest.approx(right)


@every_measure
def test_doubling_all_weights_changes_nothing(measured):
    y_true, y_pred = measured.arguments()
    once = float(measured.build()(y_true, y_pred))
    twice = float(measured.build()(y_true, y_pred, [2.0] * len(y_true)))
    assert once == pytest.approx(twice)


@every_measure
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_float32(measured, dtype):
    y_true, y_pred = measured.arguments()
    right = float(measured.build()(y_true, y_pred))
    found = measured.build()(y_true, tf.cast(y_pred, dtype))
    assert found.dtype == tf.float32
    assert float(found) == pytest.approx(right, rel=1e-2)


@every_measure
def test_many_tokens_overflow_no_half(measured, float16):
    y_true, y_pred = (x.repeat(9000, axis=0) for x in measured.arguments())
    found = measured.build()(y_true, y_pred.astype("float16"))
    keras.config.set_floatx("float32")
    right = float(measured.build()(*measured.arguments()))
    assert float(found) == pytest.approx(right, rel=1e-2)


@every_loss
def test_no_reduction_gives_units(measured):
    y_true, y_pred = measured.arguments()
    each = measured.cls(reduction=None)(y_true, y_pred).numpy()
    total = float(measured.cls(reduction="sum")(y_true, y_pred))
    assert each.shape[0] == len(y_true)
    assert each.sum() == pytest.approx(total)


@every_loss
def test_all_padding_costs_nothing(measured):
    y_true, y_pred = measured.arguments()
    value, gradient = _value_and_gradient(
        measured.build(), np.zeros_like(y_true), np.full_like(y_pred, np.nan)
    )
    assert value == 0
    assert not gradient.any()


@every_loss
@pytest.mark.parametrize("loaded", [False, True])
def test_gradient_equals_differences(measured, loaded, float64):
    y_true, y_pred = measured.arguments()
    y_pred = y_pred.astype("float64")
    loss = measured.cls(**measured.loaded) if loaded else measured.build()
    noisy = np.where(measured.padding(), np.nan, y_pred)
    _value, gradient = _value_and_gradient(loss, y_true, noisy)
    assert not gradient[measured.padding()].any()
    assert gradient.any()
    random, step = np.random.default_rng(2), 1e-6
    for _trial in range(3):
        direction = random.normal(size=y_pred.shape)
        after, before = (
            float(loss(y_true, y_pred + sign * step * direction))
            for sign in (1, -1)
        )
        assert (after - before) / (2 * step) == pytest.approx(
            np.sum(gradient * direction), rel=1e-5
        )


def _value_and_gradient(loss, y_true, y_pred):
    y_pred = tf.constant(y_pred)
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = loss(y_true, y_pred)
    return float(value), tape.gradient(value, y_pred).numpy()


@every_measure
def test_a_compiled_model_is_saved_with_it(measured, tmp_path):
    model = measured.model(measured.cls(**measured.loaded))
    ids, y_true = _inputs(measured)
    model.fit(ids, y_true, verbose=0)
    right = model.evaluate(ids, y_true, verbose=0, return_dict=True)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    found = again.evaluate(ids, y_true, verbose=0, return_dict=True)
    assert found == pytest.approx(right)
    assert max(right.values()) > 0


@every_measure
@pytest.mark.parametrize("jit_compile", [False, True])
def test_evaluate_gives_the_number_of_a_call(measured, jit_compile):
    # Without `ignore_class`: what is padding, the embedding's mask says alone.
    model = measured.model(measured.cls(name="mine"), jit_compile=jit_compile)
    ids, y_true = _inputs(measured)
    results = model.evaluate(
        ids, y_true, batch_size=9, verbose=0, return_dict=True
    )
    if measured.is_of_tokens:
        y_true = np.where(ids > 0, y_true, 0)
    right = float(measured.build()(y_true, model.predict(ids, verbose=0)))
    found = results["loss" if measured.is_loss else "mine"]
    assert found == pytest.approx(right, rel=1e-5)


@every_loss
@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_fit_lowers_the_loss(measured, policy):
    keras.config.set_dtype_policy(policy)
    model = measured.model(measured.build())
    ids, y_true = _inputs(measured)
    before = model.evaluate(ids, y_true, verbose=0)
    history = model.fit(ids, y_true, epochs=40, verbose=0).history["loss"]
    assert np.isfinite(history).all()
    assert model.evaluate(ids, y_true, verbose=0) < before


def _inputs(measured):
    """Padded ids, and a target for every step, padding included."""
    if measured.is_of_tokens:
        return WORDS, 1 + (WORDS + 1) % 5
    seen = (WORDS > 0)[:, :, None] & (WORDS > 0)[:, None, :]
    return WORDS, seen.astype("float32") * (1 + np.arange(WORDS.shape[1]) % 2)
