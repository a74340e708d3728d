"""Promises about shapes: any length, any batch, any place in a model."""

import keras
import numpy as np

from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Arrays, Sizes, Subject, numpy
from keras_attention.testing.violation import (
    Failure,
    NotPromised,
    expect,
    expect_equal,
)


@promise("The symbolic shape and dtype are those of the real call.")
def symbolic_shape_is_real(subject: Subject, sizes: Sizes) -> None:
    """All sizes differ; with the weights and without."""
    arguments = subject.arguments(sizes)
    tensors = {k: keras.KerasTensor(x.shape) for k, x in arguments.items()}
    flags: list[Arrays] = [{}]
    if subject.takes("return_attention_scores"):
        flags.append({"return_attention_scores": True})
    for flag in flags:
        promised = subject.call(subject.unbuilt(), tensors, **flag)
        real = subject.call(subject.unbuilt(), arguments, **flag)
        for spec, tensor in zip(
            keras.tree.flatten(promised), keras.tree.flatten(real), strict=True
        ):
            expect_equal(tuple(spec.shape), tuple(tensor.shape), "shape")
            dtype = keras.backend.standardize_dtype(tensor.dtype)
            expect(spec.dtype == dtype, f"{spec.dtype} said, {dtype} real")


@promise("One model takes every batch and length, or says why it cannot.")
def any_length(subject: Subject, sizes: Sizes) -> None:
    """Batch 1 and length 1, longer, and as built."""
    if not subject.any_length:
        _expect_reason(subject)
        return
    model = subject.model(subject.unbuilt(), known_lengths=False)
    for batch, queries, steps in [(1, 1, 1), (2, 7, 4), (3, 1, 6)]:
        other = sizes.but(
            batch=batch, queries=sizes.queries and queries, steps=steps
        )
        layer = subject.fresh(other)
        layer.set_weights(model.get_weights())
        arguments = {**subject.arguments(other), **subject.masks(other)}
        right = subject.output(layer, arguments)
        expect_equal(numpy(model(arguments)), right, "output", 1e-6)


@promise("An empty memory gives finite numbers.")
def empty_memory_is_finite(subject: Subject, sizes: Sizes) -> None:
    """Tv = 0, asked by the usual queries."""
    if not subject.is_pair or not subject.any_length:
        raise NotPromised("the layer has no memory of any length")
    layer = subject.fresh(sizes)
    empty = subject.arguments(sizes.but(steps=0))
    output, weights = subject.run(layer, empty)
    expect(np.isfinite(output).all(), "an output that is not finite")
    if weights is not None:
        expect(weights.shape[-1] == 0, f"weights of shape {weights.shape}")


@promise("An example's output does not depend on the rest of the batch.")
def examples_are_independent(subject: Subject, sizes: Sizes) -> None:
    """Each example alone, against all at once."""
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    layer = subject.fresh(sizes)
    together = subject.output(layer, arguments)
    for example in range(sizes.batch):
        alone = {k: x[example : example + 1] for k, x in arguments.items()}
        found = subject.output(layer, alone)[0]
        expect_equal(found, together[example], f"example {example}", 1e-6)


@promise("More axes in front are more batches.")
def leading_axes_are_batches(subject: Subject, sizes: Sizes) -> None:
    """`TimeDistributed` for one input, tensors of rank 4 for several."""
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    right = subject.output(layer, arguments)
    stacked = {k: np.stack([x, x], axis=1) for k, x in arguments.items()}
    if subject.is_pair:
        found = subject.output(layer, stacked)
    else:
        wrapped = keras.layers.TimeDistributed(layer)
        found = numpy(wrapped(next(iter(stacked.values()))))
    expect_equal(found, np.stack([right, right], axis=1), "output", 1e-6)


@promise("A layer in a nested model may be shared and called twice.")
def nested_and_shared(subject: Subject, sizes: Sizes) -> None:
    """One set of weights, one loss for each call, the same output."""
    layer = subject.unbuilt()
    inner = subject.model(layer)
    twice = keras.layers.Add()([inner(inner.input), inner(inner.input)])
    outer = keras.Model(inner.input, twice)
    count = len(subject.fresh().weights)
    expect(len(outer.weights) == count, f"{len(outer.weights)} weights")
    arguments = {**subject.arguments(), **subject.masks()}
    once = numpy(inner(arguments))
    losses = len(inner.losses)
    expect_equal(numpy(outer(arguments)), 2 * once, "output", 1e-6)
    expect(len(outer.losses) == 2 * losses, f"{len(outer.losses)} losses")
    clone = keras.models.model_from_json(outer.to_json())
    clone.set_weights(outer.get_weights())
    expect_equal(numpy(clone(arguments)), 2 * once, "the clone's", 1e-6)


def _expect_reason(subject: Subject) -> None:
    failure = Failure()
    with failure:
        subject.model(subject.unbuilt(), known_lengths=False)
    expect(
        isinstance(failure.error, ValueError) and "length" in failure.seen,
        f"no reason that speaks of the length: {failure.seen}",
    )
