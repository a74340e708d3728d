"""The child's half of `other_process`: holds models and answers requests.

Imports no Keras: which one the models need is the caller's matter.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

#: The environment variable with the number of the pipe for answers.
ANSWERS = "KERAS_ATTENTION_BENCHMARK_ANSWERS"


class Model(Protocol):
    """What a case builds. Both functions do their work to the end."""

    def how(self, what: str) -> str:
        """In words, how `what` is run."""

    def forward(self) -> np.ndarray:
        """A call on the inputs."""

    def train_step(self) -> float:
        """A step of SGD; the loss before it."""


Build = Callable[[dict[str, np.ndarray], dict[str, Any]], Model]


def serve(cases: dict[str, Build]) -> None:
    """Answers each line of standard input until the parent is gone.

    Args:
        cases: By name; each takes the arrays and the settings of a model.
    """
    answers = int(os.environ[ANSWERS])
    handler = _Handler(cases)
    for line in _lines():
        answer = handler.answer(json.loads(line))
        os.write(answers, json.dumps(answer).encode() + b"\n")


class _Handler:
    def __init__(self, cases: dict[str, Build]) -> None:
        self._cases = cases
        self._models: dict[int, Model] = {}
        self._built = 0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer, an error or the name of a missing package."""
        try:
            return getattr(self, "_" + request.pop("do"))(**request)
        except ModuleNotFoundError as error:
            return {"missing": error.name}
        except Exception as error:  # The parent is told; the child lives on.
            return {"error": f"{type(error).__name__}: {error}"}

    def _build(self, case: str, path: str, settings: Any) -> dict[str, Any]:
        with np.load(path) as arrays:
            model = self._cases[case](dict(arrays), settings)
        self._built += 1
        self._models[self._built] = model
        return {"model": self._built}

    def _forward(self, model: int, times: int) -> dict[str, Any]:
        called = self._models[model]
        how = called.how("forward")  # Warms it up.
        seconds = [_timed(called.forward)[0] for _ in range(times)]
        return {"seconds": seconds, "how": how}

    def _train_step(self, model: int, times: int) -> dict[str, Any]:
        trained = self._models[model]
        how = trained.how("train_step")
        steps = [_timed(trained.train_step) for _ in range(times)]
        seconds = [seconds for seconds, _ in steps]
        return {"seconds": seconds, "loss": float(steps[-1][1]), "how": how}

    def _output(self, model: int, path: str) -> dict[str, Any]:
        np.save(path, self._models[model].forward())
        return {}

    def _forget(self, model: int) -> dict[str, Any]:
        del self._models[model]
        return {}


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def _lines() -> Iterator[str]:
    """Lines of standard input; its end ends the process, busy or not."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()
