"""Saved models, loaded by one fresh process.

A process of its own takes seconds to start, so that one loads the models of
as many layers as there are: see `Shelf`.
"""

import importlib
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from keras_attention import compilation
from keras_attention.testing.violation import Failure

Arrays = dict[str, Any]


class Shelf:
    """The saved models of some subjects, and what a fresh process makes of it.

    Args:
        subjects: Each gets this shelf as its `shelf`.
    """

    def __init__(self, subjects: Sequence[Any]) -> None:
        self._subjects = list(subjects)
        self._right: dict[tuple[int, str], Any] = {}
        self._found: dict[tuple[int, str], Any] = {}
        for subject in subjects:
            subject.shelf = self

    def answers(self, subject: Any, form: str) -> tuple[Arrays, Any]:
        """The right answers, and those of the fresh process or its error."""
        if not self._right:
            with tempfile.TemporaryDirectory() as folder:
                self._fill(pathlib.Path(folder))
        key = id(subject), form
        right = self._right[key]
        return (right, self._found[key]) if key in self._found else ({}, right)

    def _fill(self, folder: pathlib.Path) -> None:
        """Saves all models, and starts the process."""
        jobs = []
        for number, (subject, form) in enumerate(
            itertools.product(self._subjects, forms())
        ):
            key, place = (id(subject), form), folder / str(number)
            failure = Failure()
            with failure:
                self._right[key] = _save(subject, form, place)
                jobs.append((key, str(place), form))
            if failure.error:
                self._right[key] = failure.seen
        modules = [
            type(part).__module__
            for subject in self._subjects
            for part in subject.unbuilt()._flatten_layers()
        ]
        (folder / "jobs.json").write_text(json.dumps([j[1:] for j in jobs]))
        _start(folder, sorted(set(modules)))
        for key, written, _form in jobs:
            self._found[key] = _read(pathlib.Path(written))


def forms() -> list[str]:
    """The kinds of files that this backend writes."""
    exports = keras.backend.backend() == "tensorflow"
    return ["keras", "weights", *["saved_model"] * exports]


def _save(subject: Any, form: str, place: pathlib.Path) -> Arrays:
    """Saves a model that was never called; returns its answers."""
    place.mkdir()
    unknown = form == "saved_model" and subject.any_length
    model = subject.model(subject.unbuilt(), known_lengths=not unknown)
    if form == "keras":
        model.save(place / "model.keras")
    elif form == "weights":
        (place / "model.json").write_text(model.to_json())
        model.save_weights(place / "model.weights.h5")
    else:
        model.export(place / "model", verbose=False)
    sizes = subject.sizes
    if unknown:
        longer = {"queries": sizes.queries and 1, "steps": 4}
        sizes = sizes.but(batch=3, **longer)
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    np.savez(place / "inputs.npz", **arguments)
    return _answers(model, arguments, form)


def _answers(model: Any, arguments: Mapping[str, Any], form: str) -> Arrays:
    """The output; for a whole model also the output in training."""
    answers = {"output": _array(model(arguments))}
    if form == "keras":
        answers["output in training"] = _array(model(arguments, training=True))
    return answers


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(keras.ops.convert_to_numpy(tensor))


def _start(folder: pathlib.Path, modules: list[str]) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "KERAS_BACKEND": keras.backend.backend(),
    }
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(folder), *modules],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the fresh process failed:\n{done.stderr}")


def _read(place: pathlib.Path) -> Any:
    error = place / "error.txt"
    if error.exists():
        return error.read_text()
    with np.load(place / "answers.npz") as answers:
        return dict(answers)


def _load(place: pathlib.Path, form: str) -> Any:
    if form == "keras":
        return keras.models.load_model(place / "model.keras")
    if form == "weights":
        text = (place / "model.json").read_text()
        model = keras.models.model_from_json(text)
        model.load_weights(place / "model.weights.h5")
        return model
    import tensorflow as tf

    loaded = tf.saved_model.load(place / "model")
    return lambda arguments: loaded.serve(arguments)  # Keeps its variables.


def _answer(place: pathlib.Path, form: str) -> None:
    with np.load(place / "inputs.npz") as inputs:
        arguments = dict(inputs)
    answers = _answers(_load(place, form), arguments, form)
    np.savez(place / "answers.npz", **answers)


def main(folder: str, *modules: str) -> None:
    """What the fresh process does: imports, loads, answers."""
    for module in modules:
        importlib.import_module(module)
    compilation.set_jit_compile(False)
    jobs = json.loads((pathlib.Path(folder) / "jobs.json").read_text())
    for place, form in jobs:
        failure = Failure()
        with failure:
            _answer(pathlib.Path(place), form)
        if failure.error:
            (pathlib.Path(place) / "error.txt").write_text(failure.seen)


if __name__ == "__main__":
    main(*sys.argv[1:])
