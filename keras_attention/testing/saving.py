"""Promises about files: what was saved comes back the same."""

import json

import keras

from keras_attention.testing.arguments import own_arguments
from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import expect, expect_equal


@promise("The config holds every argument, as JSON; its layer does the same.")
def config_tells_all(subject: Subject, sizes: Sizes) -> None:
    """Initial weights, output, output in training."""
    layer = subject.unbuilt()
    config = layer.get_config()
    missing = [k for k in own_arguments(type(layer)) if k not in config]
    expect(not missing, f"a config without {missing}")
    text = json.dumps(config, sort_keys=True)

    def reload() -> keras.Layer:
        return type(layer).from_config(json.loads(text))

    found = json.dumps(reload().get_config(), sort_keys=True)
    expect(found == text, f"{found} after a round trip of {text}")
    twin = Subject(reload, subject.sizes)
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    ours, theirs = subject.fresh(sizes), twin.fresh(sizes)
    weights = zip(ours.get_weights(), theirs.get_weights(), strict=True)
    for weight, again in weights:
        expect_equal(again, weight, "an initial weight")
    for flags in [{}, {"training": True}][: 1 + subject.takes("training")]:
        right = subject.output(ours, arguments, **flags)
        again = subject.output(theirs, arguments, **flags)
        expect_equal(again, right, f"output with {flags}")


@promise("All weights are there once the layer is built, before any call.")
def weights_exist_when_built(subject: Subject, sizes: Sizes) -> None:
    """A functional model that was never called, against a called layer."""
    model = subject.model(subject.unbuilt())
    called = subject.fresh()
    expect(
        len(model.weights) == len(called.weights),
        f"{len(model.weights)} of {len(called.weights)} weights",
    )


@promise("A `.keras` file gives the same model in a fresh process.")
def keras_file(subject: Subject, sizes: Sizes) -> None:
    """Saved before the first call; training, with its dropout, as well."""
    _expect_same_answers(subject, "keras")


@promise("A file of weights fills the same model in a fresh process.")
def weights_file(subject: Subject, sizes: Sizes) -> None:
    """Saved before the first call."""
    _expect_same_answers(subject, "weights")


@promise(
    "A SavedModel answers the same in a fresh process, at any length.",
    backends=("tensorflow",),
)
def saved_model(subject: Subject, sizes: Sizes) -> None:
    """Exported before the first call."""
    _expect_same_answers(subject, "saved_model")


def _expect_same_answers(subject: Subject, form: str) -> None:
    subject.last_call = {**subject.arguments(), **subject.masks()}
    right, found = subject.answers(form)
    expect(isinstance(found, dict), str(found))
    for name, answer in right.items():
        expect_equal(found[name], answer, name, 1e-6)
