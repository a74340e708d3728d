"""Promises about training: dropout, seeds, a step of `fit`."""

import keras
import numpy as np

from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import (
    NotPromised,
    expect,
    expect_equal,
)


@promise("Dropout is for training alone.")
def dropout_only_in_training(subject: Subject, sizes: Sizes) -> None:
    """Outside training, calls are equal, and equal to a layer without it."""
    layer = subject.fresh(sizes)
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    right = subject.output(layer, arguments)
    expect_equal(subject.output(layer, arguments), right, "a second call")
    if subject.takes("training"):
        found = subject.output(layer, arguments, training=False)
        expect_equal(found, right, "output with training=False")
        dropped = subject.output(layer, arguments, training=True)
        if not getattr(layer, "dropout", 0.0):
            expect_equal(dropped, right, "output with training=True", 1e-6)
        elif sizes == subject.sizes:
            expect(np.abs(dropped - right).max() > 0, "dropout drops nothing")


@promise("A seed fixes the dropout; each call draws anew.")
def dropout_is_seeded(subject: Subject, sizes: Sizes) -> None:
    """Equal layers drop alike, hidden steps stay at 0."""
    layer = subject.fresh(sizes)
    drops = getattr(layer, "dropout", 0.0) > 0.0
    if not (subject.takes("training") and drops):
        raise NotPromised("the layer drops nothing")
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    twin = subject.fresh(sizes)
    first, second = (
        subject.output(layer, arguments, training=True) for _ in range(2)
    )
    for right in (first, second):
        found = subject.output(twin, arguments, training=True)
        expect_equal(found, right, "output of an equal layer")
    if sizes == subject.sizes:
        expect(np.abs(first - second).max() > 0, "two calls that drop alike")


@promise("A model of the layer trains, compiled or not, to the same weights.")
def trains(subject: Subject, sizes: Sizes) -> None:
    """One step of `fit`; every warning on the way is an error."""
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    results = []
    for jit_compile in (False, True):
        model = subject.model(subject.unbuilt())
        if not model.trainable_weights:
            raise NotPromised("the layer has nothing to train")
        target = np.ones(model.output.shape[1:], "float32")
        targets = np.stack([target] * sizes.batch)
        model.compile("sgd", "mse", jit_compile=jit_compile)
        history = model.fit(arguments, targets, verbose=0)
        expect(np.isfinite(history.history["loss"]).all(), "no finite loss")
        results.append(model.get_weights())
        if getattr(model.layers[-1], "dropout", 0.0):
            break  # XLA draws other random numbers.
    for plain, compiled in zip(results[0], results[-1], strict=True):
        expect_equal(compiled, plain, "a weight after the step", 1e-5)


@promise("A masked model runs without a warning, and keeps its mask.")
def no_warning(subject: Subject, sizes: Sizes) -> None:
    """`Embedding(mask_zero=True)` in front; every warning is an error."""
    dims = {k: s[-1] for k, s in subject.shapes(sizes).items() if len(s) == 3}
    ids = {
        name: keras.Input(shape[1:-1], dtype="int32", name=name)
        for name, shape in subject.shapes(sizes).items()
        if name in dims
    }
    tensors = {
        name: keras.layers.Embedding(9, dims[name], mask_zero=True)(x)
        if name in ids
        else keras.Input(x[1:], name=name)
        for name, x in {**subject.shapes(sizes), **ids}.items()
    }
    inputs = {k: ids.get(k, x) for k, x in tensors.items()}
    model = keras.Model(inputs, subject.call(subject.unbuilt(), tensors))
    given = {
        name: _words(x.shape[1], sizes.batch)
        if name in ids
        else subject.arguments(sizes)[name]
        for name, x in inputs.items()
    }
    output = model.predict(given, verbose=0)
    expect(np.isfinite(output).all(), "an output that is not finite")


def _words(steps: int, batch: int) -> np.ndarray:
    """Word 0 is padding, which ends every row of two words or more."""
    words = np.arange(steps, 0, -1) - (steps > 1)
    return np.stack([words] * batch)
