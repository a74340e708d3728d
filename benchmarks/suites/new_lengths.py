"""What new sequence lengths cost, each way, with and without padding to few.

Thirty lengths are met one after the other, then again. `each`: as they are.
`powers_of_two`: padded to the next one; the mask that would hide the padding
is left out. Ours is `BahdanauAttention`, `plain` the same with
`jit_compile=False`, and Keras's has a Dense on each side. The ways:

- `eager` and `eager_gradient`: the layer called, and a `GradientTape` over it;
- `fit` and `fit_jit`: one step with its data pipeline, whose shapes leave the
  length open, of a model compiled with `jit_compile="auto"` and `True`;
- `fit_fixed`: the same with the length fixed in the model;
- `generate`: a decoder that attends to a memory of the length writes greedily;
  ours alone.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks import comparison, timing
from benchmarks.cases import Case
from benchmarks.settings import Settings
from benchmarks.suites import layers

SHORTEST = 20
BATCH = 8
DIM = 32
TOKENS, WRITTEN = 100, 20
WAYS = ("eager", "eager_gradient", "fit", "fit_jit", "fit_fixed", "generate")
QUICK_WAYS = ("eager", "fit", "generate")
LENGTHS = ("each", "powers_of_two")

Attend = Callable[[Any, Any], Any]
Call = Callable[[int], object]

SIDES: dict[str, Callable[[Case], Attend]] = {
    "ours": lambda case: ka.BahdanauAttention(case.dim),
    "plain": lambda case: ka.BahdanauAttention(case.dim, jit_compile=False),
    "keras": layers.KERAS["additive"],
}


def cases(quick: bool) -> list[Case]:
    """Each way of calling, with and without padding; a few, if quick."""
    return [
        Case(BATCH, 22 if quick else 49, DIM, way=way, lengths=lengths)
        for way in (QUICK_WAYS if quick else WAYS)
        for lengths in LENGTHS
    ]


def row(case: Case, settings: Settings) -> comparison.Row:
    """Seconds of the lengths of each side, up to the case's."""
    padded = [
        length if case.lengths == "each" else 1 << (length - 1).bit_length()
        for length in range(SHORTEST, case.steps + 1)
    ]
    found, new = {}, {}
    names = ("ours",) if case.way == "generate" else SIDES
    for name in names:
        comparison.forget_programs()
        call = _prepared(SIDES[name](case), case)
        call(max(padded) + 1)  # What is paid once is not a length's cost.
        measured = {
            "new": [_seconds(call, length) for length in padded],
            "seen": [_seconds(call, length) for length in padded],
        }
        found[name] = _measures(measured)
        new[name] = found[name]["new_total_seconds"]
    ratios = {
        name: dataclasses.asdict(ratio)
        for name, ratio in timing.ratios(
            {name: [total] for name, total in new.items()}
        ).items()
    }
    return {"case": case.key(), "sides": found, "ratios": ratios}


def _prepared(attend: Attend, case: Case) -> Call:
    if case.way == "eager":
        return lambda T: np.asarray(attend(_batch(case, T), _batch(case, T)))
    if case.way == "eager_gradient":
        return _gradient(attend, case)
    if case.way == "generate":
        return _generate(attend, case)
    return _fit(attend, case)


def _gradient(attend: Attend, case: Case) -> Call:
    import tensorflow as tf

    def call(T: int) -> object:
        x = _batch(case, T)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(attend(x, x))
            weights = tape.watched_variables()
        return [np.asarray(g) for g in tape.gradient(loss, [x, *weights])]

    return call


def _generate(attend: Any, case: Case) -> Call:
    decoder = ka.AttentionDecoder(
        ka.AttentionCell(keras.layers.LSTMCell(case.dim), attend),
        keras.layers.Embedding(TOKENS, case.dim),
        keras.layers.Dense(TOKENS),
    )
    decoder.build((case.batch, WRITTEN), (case.batch, None, case.dim))

    def call(T: int) -> object:
        found = decoder.generate(
            _batch(case, T), max_length=WRITTEN, start_id=1, end_id=2
        )
        return np.asarray(found.tokens)

    return call


def _fit(attend: Attend, case: Case) -> Call:
    import tensorflow as tf

    is_fixed = case.way == "fit_fixed"
    models: dict[int | None, keras.Model] = {}

    def model(T: int | None) -> keras.Model:
        if T not in models:
            x = keras.Input((T, case.dim))
            models[T] = keras.Model(x, attend(x, x))
            jit_compile: Any = True if case.way == "fit_jit" else "auto"
            models[T].compile("sgd", "mse", jit_compile=jit_compile)
        return models[T]

    def call(T: int) -> object:
        length = T if is_fixed else None
        batch = _batch(case, T)
        spec = tf.TensorSpec((case.batch, length, case.dim))
        data = tf.data.Dataset.from_generator(
            lambda: iter([(batch, batch)]), output_signature=(spec, spec)
        )
        return model(length).fit(
            data.repeat(), steps_per_epoch=1, shuffle=False, verbose=0
        )

    return call


def _batch(case: Case, T: int) -> Any:
    return keras.ops.ones((case.batch, T, case.dim))


def _seconds(call: Call, T: int) -> tuple[float, float]:
    """Wall seconds, and seconds of processor, which others do not lengthen."""
    wall, processor = time.perf_counter(), time.process_time()
    call(T)
    return time.perf_counter() - wall, time.process_time() - processor


def _measures(measured: dict[str, list[tuple[float, float]]]) -> dict[str, Any]:
    """How the lengths lie, and how much they are together."""
    found: dict[str, Any] = {}
    for when, seconds in measured.items():
        wall, processor = zip(*seconds, strict=True)
        found[f"{when}_total_seconds"] = sum(wall)
        found[f"{when}_seconds"] = vars(timing.Spread.of(wall))
        found[f"{when}_processor_seconds"] = vars(timing.Spread.of(processor))
    return found
