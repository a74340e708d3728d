"""Promises about who may see whom."""

from typing import Any

import keras
import numpy as np

from keras_attention.testing import gradients
from keras_attention.testing.checks import promise
from keras_attention.testing.subject import (
    Arrays,
    Sizes,
    Subject,
    numpy,
    visible_rows,
)
from keras_attention.testing.violation import (
    NotPromised,
    expect,
    expect_equal,
)

#: What may stand behind a mask.
NOISE = (100.0, float("nan"), float("inf"))


@promise("What stands in padded steps changes nothing, gradients neither.")
def padding_is_invisible(subject: Subject, sizes: Sizes) -> None:
    """Hidden steps hold +100, NaN or inf; exactly the same comes out."""
    masks = _masks(subject, sizes)
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    clean = _seen(subject, layer, sizes, arguments, masks)
    for noise in NOISE:
        noisy = {
            name: _with_noise(x, masks.get(_mask_of(subject, name)), noise)
            for name, x in arguments.items()
        }
        found = _seen(subject, layer, sizes, noisy, masks)
        for name, right in clean.items():
            expect_equal(found[name], right, f"with {noise} hidden, {name}")


@promise("Longer padding changes nothing.")
def longer_padding_is_invisible(subject: Subject, sizes: Sizes) -> None:
    """Two more hidden steps."""
    masks = _masks(subject, sizes)
    if not subject.any_length:
        raise NotPromised("the length is fixed")
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    short, _ = subject.run(layer, {**arguments, **masks})
    mask = masks[subject.mask_name]
    longer = {
        name: np.pad(x, [(0, 0), (0, 2), (0, 0)], constant_values=100.0)
        for name, x in arguments.items()
        if name in subject.sequences
    }
    padded = np.pad(mask, [(0, 0), (0, 2)])
    longer = {**arguments, **masks, **longer, subject.mask_name: padded}
    long, _ = subject.run(layer, longer)
    if not subject.is_pair and subject.is_per_step(short, sizes):
        short, long = (
            visible_rows(short, mask),
            visible_rows(long[:, : sizes.steps], mask),
        )
    expect_equal(long, short, "output", 1e-6)


@promise("Where nothing is visible, weights are exactly 0, gradients finite.")
def nothing_visible_weighs_nothing(subject: Subject, sizes: Sizes) -> None:
    """The mask of the last example is False throughout."""
    layer, arguments = subject.fresh(sizes), _last_hidden(subject, sizes)
    output, weights = subject.run(layer, arguments)
    expect(np.isfinite(output).all(), "an output that is not finite")
    if weights is not None:
        expect_equal(weights[-1], np.zeros_like(weights[-1]), "weights")
    for name, gradient in gradients.of(
        subject, layer, arguments, np.ones_like(output)
    ).items():
        if gradient is not None:
            expect(
                np.isfinite(gradient).all(), f"gradient of {name} not finite"
            )


@promise("Where nothing is visible, the output is exactly 0.")
def nothing_visible_gives_zeros(subject: Subject, sizes: Sizes) -> None:
    """The mask of the last example is False throughout."""
    layer, arguments = subject.fresh(sizes), _last_hidden(subject, sizes)
    output = subject.output(layer, arguments)
    expect_equal(output[-1], np.zeros_like(output[-1]), "output")
    alone = {name: x[:-1] for name, x in arguments.items()}
    if sizes.batch > 1:
        expect_equal(
            subject.output(layer, alone), output[:-1], "the others", 1e-6
        )


@promise("With a causal mask, what comes later changes nothing before.")
def future_is_invisible(subject: Subject, sizes: Sizes) -> None:
    """The last step holds +100 or NaN; the queries stand at the last keys."""
    if not subject.takes("use_causal_mask"):
        raise NotPromised("the layer has no `use_causal_mask`")
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    before = subject.output(layer, arguments, use_causal_mask=True)
    for noise in NOISE:
        changed = dict(arguments)
        for name in subject.sequences:
            changed[name] = arguments[name].copy()
            changed[name][:, -1] = noise
        for flags in ({}, {"training": False}):
            after = subject.output(
                layer, changed, use_causal_mask=True, **flags
            )
            expect_equal(after[:, :-1], before[:, :-1], "output before it")
        _, weights = subject.run(layer, changed, use_causal_mask=True)
        if weights is not None and subject.is_per_step(before, sizes):
            _expect_triangle(weights)


@promise("The caller's tensors and masks are as they were.")
def callers_masks_survive(subject: Subject, sizes: Sizes) -> None:
    """Neither arrays nor masks attached by Keras are changed or lost."""
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    copies = {name: x.copy() for name, x in arguments.items()}
    subject.call(subject.unbuilt(), arguments)
    for name, x in arguments.items():
        expect_equal(x, copies[name], name)
    tensors = _masked_by_keras(subject, sizes)
    subject.call(subject.unbuilt(), tensors)
    for name, tensor in tensors.items():
        if not isinstance(tensor, np.ndarray):
            expect(_keras_mask(tensor) is not None, f"{name} lost its mask")


@promise("Masks attached by Keras count like those passed by hand.")
def implicit_masks_count(subject: Subject, sizes: Sizes) -> None:
    """Through `keras.layers.Masking`, against the arguments."""
    masks = _masks(subject, sizes)
    if subject.is_pair and sizes.queries is None:
        masks.pop("query_mask", None)
    layer = subject.fresh(sizes)
    arguments = subject.arguments(sizes)
    for name, x in arguments.items():
        mask = masks.get(_mask_of(subject, name))
        if mask is not None and name != "key":
            x[~mask] = 0.0  # What `Masking` takes for padding.
    explicit = subject.output(layer, {**arguments, **masks})
    tensors = {
        name: x if _mask_of(subject, name) not in masks else _masking(x)
        for name, x in arguments.items()
        if name != "key"
    }
    if "key" in arguments:
        tensors["key"] = arguments["key"]
    expect_equal(subject.output(layer, tensors), explicit, "output", 1e-6)


@promise("One output per step has the steps' mask, a pooled one has none.")
def output_mask_is_right(subject: Subject, sizes: Sizes) -> None:
    """As the next layer sees it, in a functional model and eagerly."""
    tensors = _masked_by_keras(subject, sizes)
    output = subject.call(subject.unbuilt(), tensors)
    found = _keras_mask(output)
    if not subject.is_per_step(output, sizes):
        expect(found is None, "a mask on an output without steps")
        return
    right = _keras_mask(next(iter(tensors.values())))
    expect(found is not None, "no mask")
    expect_equal(numpy(found), numpy(right), "mask")


@promise("A mask means the same in every shape and dtype that is allowed.")
def masks_agree(subject: Subject, sizes: Sizes) -> None:
    """Integers; `attention_mask` of (B, Tv), (B, Tq, Tv) and (1, Tq, Tv)."""
    masks = _masks(subject, sizes)
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    mask = masks[subject.mask_name]
    right = subject.output(layer, {**arguments, subject.mask_name: mask})
    same: list[Arrays] = [{subject.mask_name: mask.astype("int32")}]
    if subject.takes("attention_mask") and sizes.queries:
        pairs = np.repeat(mask[:, None], sizes.queries, axis=1)
        same += [{"attention_mask": mask}, {"attention_mask": pairs}]
        same += [{"attention_mask": pairs.astype("int32")}]
        if sizes.batch == 1:
            same += [{"attention_mask": pairs[:1]}]
    for other in same:
        found = subject.output(layer, {**arguments, **other})
        expect_equal(found, right, "output", 1e-6)


@promise("The weights of a query are not negative and sum to 1, or are all 0.")
def weights_are_a_distribution(subject: Subject, sizes: Sizes) -> None:
    """Without masks and with them; hidden steps get exactly 0."""
    if not subject.takes("return_attention_scores"):
        raise NotPromised("the layer has no weights to return")
    layer, arguments = subject.fresh(sizes), subject.arguments(sizes)
    masks = subject.masks(sizes)
    masks.pop("query_mask", None)
    for given in (arguments, {**arguments, **masks}):
        _, weights = subject.run(layer, given)
        expect((weights >= 0).all(), f"the weight {weights.min()}")
        sums = weights.sum(-1)
        right = np.where(sums == 0.0, 0.0, 1.0)
        expect(right.any() or sizes != subject.sizes, "no row sums to 1")
        expect_equal(sums, right, "sum of weights", 1e-6)
    mask = masks.get(subject.mask_name)
    if mask is not None:
        seen = np.moveaxis(weights, -1, 1)[~mask]
        expect_equal(seen, np.zeros_like(seen), "weights of hidden steps")


@promise("Asking for the weights does not change the output.")
def asking_for_weights_changes_nothing(subject: Subject, sizes: Sizes) -> None:
    """With and without masks, in training and out of it."""
    if not subject.takes("return_attention_scores"):
        raise NotPromised("the layer has no weights to return")
    arguments = subject.arguments(sizes)
    masked = {**arguments, **subject.masks(sizes)}
    for given in (arguments, masked):
        for training in (False, True):
            # Two fresh layers draw the same seeds.
            asked, _ = subject.run(
                subject.fresh(sizes), given, **_training(subject, training)
            )
            right = subject.output(
                subject.fresh(sizes), given, **_training(subject, training)
            )
            expect_equal(asked, right, "output with weights", 1e-6)


def _training(subject: Subject, training: bool) -> Arrays:
    return {"training": training} if subject.takes("training") else {}


def _masks(subject: Subject, sizes: Sizes) -> Arrays:
    masks = subject.masks(sizes)
    if subject.mask_name not in masks:
        raise NotPromised(f"the layer has no `{subject.mask_name}`")
    return masks


def _mask_of(subject: Subject, tensor: str) -> str:
    if tensor in subject.sequences:
        return subject.mask_name
    return f"{tensor}_mask"


def _with_noise(x: Any, mask: Any, noise: float) -> Any:
    if mask is None:
        return x
    return np.where(mask[..., None], x, np.float32(noise))


def _seen(
    subject: Subject,
    layer: keras.Layer,
    sizes: Sizes,
    arguments: Arrays,
    masks: Arrays,
) -> Arrays:
    """Visible outputs, weights, and gradients of the visible outputs."""
    given = {**arguments, **masks}
    output, weights = subject.run(layer, given)
    mask: Any = masks.get("query_mask", masks[subject.mask_name])
    per_step = subject.is_per_step(output, sizes) and (
        not subject.is_pair or "query_mask" in masks
    )
    factor = np.cos(np.arange(output.size)).reshape(output.shape)
    factor = factor.astype(output.dtype)
    if per_step:
        output = visible_rows(output, mask)
        factor = visible_rows(factor, mask)
    found = gradients.of(subject, layer, given, factor)
    seen = {
        f"the gradient of {name}": gradient
        for name, gradient in found.items()
        if gradient is not None
    }
    if weights is not None:
        if per_step and weights.shape[-2] == mask.shape[1]:
            weights = visible_rows(weights, mask)
        seen["weights"] = weights
    return {
        "output": output,
        **{k: x for k, x in seen.items() if x is not None},
    }


def _last_hidden(subject: Subject, sizes: Sizes) -> Arrays:
    """Arguments; in the last example nothing is visible."""
    masks = _masks(subject, sizes)
    mask = np.ones_like(masks[subject.mask_name])
    mask[-1] = False
    return {**subject.arguments(sizes), subject.mask_name: mask}


def _keras_mask(tensor: Any) -> Any:
    return getattr(tensor, "_keras_mask", None)


def _masking(x: np.ndarray) -> Any:
    return keras.layers.Masking()(x)


def _masked_by_keras(subject: Subject, sizes: Sizes) -> Arrays:
    """Tensors that carry masks; the last step of each is hidden."""
    tensors: Arrays = {}
    for name, x in subject.arguments(sizes).items():
        if x.ndim == 3 and name != "key":  # Which has its value's mask.
            if x.shape[1] > 1:
                x[:, -1] = 0.0
            x = _masking(x)
        tensors[name] = x
    return tensors


def _expect_triangle(weights: np.ndarray) -> None:
    queries, steps = weights.shape[-2:]
    later = np.triu(np.ones((queries, steps), bool), k=1 + steps - queries)
    ahead = weights[..., later]
    expect_equal(ahead, np.zeros_like(ahead), "weights of later keys")
