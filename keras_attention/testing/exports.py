"""Promises about files for other runtimes. TensorFlow only."""

import pathlib
import tempfile
from typing import Any

import numpy as np

from keras_attention.testing.checks import promise
from keras_attention.testing.subject import Arrays, Sizes, Subject, numpy
from keras_attention.testing.violation import expect_equal


@promise(
    "An ONNX file answers the same.",
    backends=("tensorflow",),
    needs=("tf2onnx", "onnxruntime"),
)
def onnx(subject: Subject, sizes: Sizes) -> None:
    """Any batch and length, where the layer takes any."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        model, arguments = _exported(subject, path, "onnx")
        session = onnxruntime.InferenceSession(str(path))
        (found,) = session.run(None, arguments)
    expect_equal(found, numpy(model(arguments)), "output", 1e-5)


@promise(
    "A LiteRT file answers the same.",
    backends=("tensorflow",),
    needs=("ai_edge_litert",),
)
def litert(subject: Subject, sizes: Sizes) -> None:
    """Lengths as built; the batch is 1."""
    from ai_edge_litert.interpreter import Interpreter

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.tflite"
        model, arguments = _exported(subject, path, "litert")
        found = _interpret(Interpreter(str(path)), arguments)
    expect_equal(found, numpy(model(arguments)), "output", 1e-5)


def _exported(
    subject: Subject, path: pathlib.Path, form: str
) -> tuple[Any, Arrays]:
    known = form == "litert" or not subject.any_length
    model = subject.model(subject.unbuilt(), known_lengths=known)
    sizes = subject.sizes if form == "onnx" else subject.sizes.but(batch=1)
    arguments = {**subject.arguments(sizes), **subject.masks(sizes)}
    model(arguments)  # Keras's ONNX export asks for a call before.
    model.export(str(path), format=form, verbose=False)
    return model, arguments


def _interpret(interpreter: Any, arguments: Arrays) -> np.ndarray:
    runner = interpreter.get_signature_runner()
    (answer,) = runner(**arguments).values()
    return np.asarray(answer)
