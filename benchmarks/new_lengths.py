"""What a new sequence length costs, beside a length that was seen before."""

import time
from collections.abc import Callable, Iterable

import keras
import numpy as np

import keras_attention as ka

DIM = 32
BATCH = 8


def measured(lengths: Iterable[int]) -> list[dict[str, object]]:
    """Seconds for each way of calling `BahdanauAttention`.

    Args:
        lengths: The lengths to meet; each is met twice.
    """
    rows = []
    for name, prepare in WAYS.items():
        call = prepare()
        call(max(lengths) + 1)  # What is paid once is not a length's cost.
        new = [_seconds(call, T) for T in lengths]
        seen = [_seconds(call, T) for T in lengths]
        rows.append({"way": name, "new": new, "seen": seen})
    return rows


def _eager(jit_compile: bool) -> Callable[[int], object]:
    attend = ka.BahdanauAttention(DIM, jit_compile=jit_compile)
    return lambda T: attend(_batch(T), _batch(T)).numpy()


def _gradient() -> Callable[[int], object]:
    import tensorflow as tf

    attend = ka.BahdanauAttention(DIM)

    def call(T: int) -> object:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(attend(_batch(T), _batch(T)))
        gradients = tape.gradient(loss, attend.trainable_variables)
        return [gradient.numpy() for gradient in gradients]

    return call


def _fit(fixed: bool, jit_compile: bool | str) -> Callable[[int], object]:
    import tensorflow as tf

    def model(T: int | None) -> keras.Model:
        x = keras.Input((T, DIM))
        built = keras.Model(x, ka.BahdanauAttention(DIM)(x, x))
        built.compile("sgd", "mse", jit_compile=jit_compile)
        return built

    models: dict[int | None, keras.Model] = {}

    def call(T: int) -> object:
        length = T if fixed else None
        if length not in models:
            models[length] = model(length)
        spec = tf.TensorSpec((BATCH, length, DIM))
        data = tf.data.Dataset.from_generator(
            lambda: iter([(_batch(T), _batch(T))]),
            output_signature=(spec, spec),
        ).repeat()
        models[length].fit(data, steps_per_epoch=1, shuffle=False, verbose=0)
        return None

    return call


WAYS: dict[str, Callable[[], Callable[[int], object]]] = {
    "eager": lambda: _eager(True),
    "eager, with the gradient": _gradient,
    "eager, layer's jit_compile=False": lambda: _eager(False),
    "fit, unknown length": lambda: _fit(False, "auto"),
    "fit, one model per fixed length": lambda: _fit(True, "auto"),
    "fit(jit_compile=True), unknown length": lambda: _fit(False, True),
}


def _batch(T: int) -> np.ndarray:
    return np.ones((BATCH, T, DIM), "float32")


def _seconds(call: Callable[[int], object], T: int) -> dict[str, float]:
    """Wall seconds, and seconds of processor, which others do not lengthen."""
    wall, processor = time.perf_counter(), time.process_time()
    call(T)
    return {
        "wall": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
    }
