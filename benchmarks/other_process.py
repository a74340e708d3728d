"""A peer that lives in a Python process of its own, kept alive.

Some peers want another Keras than ours. A child process holds them: one line
of JSON asks it, one line answers, and times are taken inside the child, so
that ours and theirs can run by turns. The child's half is `serving`.
"""

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import serving

ROOT = Path(__file__).parent.parent

#: The child that holds the peers of Keras 2.
COMMAND = (sys.executable, "-m", "benchmarks.legacy_keras")

#: Seconds for an answer; building and the first call compile.
TIMEOUT = 300.0


class PeerNotInstalled(Exception):
    """The peer's package is missing; the message says how to get it."""

    def __init__(self, package: str | None) -> None:
        super().__init__(
            f"peer not installed: {package} (pip install "
            "'keras-attention-layers[bench]')"
        )


class PeerFailed(Exception):
    """The child answered with an error, too late, or not at all."""


class OtherProcess:
    """A child process that answers requests; a context manager.

    Args:
        command: What to run; it calls `serving.serve`.
        timeout: Seconds to wait for an answer before the child is killed.
    """

    def __init__(
        self, command: Sequence[str] = COMMAND, timeout: float = TIMEOUT
    ) -> None:
        self._timeout = timeout
        self._said = tempfile.TemporaryFile("w+")
        read, write = os.pipe()
        self._answers = os.fdopen(read)
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._said,  # Libraries print; answers go elsewhere.
            stderr=subprocess.STDOUT,
            pass_fds=(write,),
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                serving.ANSWERS: str(write),
                "TF_CPP_MIN_LOG_LEVEL": "3",
            },
        )
        os.close(write)

    def __enter__(self) -> "OtherProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_alive(self) -> bool:
        """Whether the child may be asked."""
        return self._child.poll() is None

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request.

        Raises:
            PeerNotInstalled: The child lacks the peer's package.
            PeerFailed: Anything else that is not an answer.
        """
        answer = self._answer(json.dumps(request))
        if "missing" in answer:
            raise PeerNotInstalled(answer["missing"])
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer

    def close(self) -> None:
        """Ends the child."""
        self._child.kill()
        self._child.wait()
        for file in (self._child.stdin, self._answers, self._said):
            _close(file)

    def _answer(self, request: str) -> Any:
        try:
            self._child.stdin.write(request + "\n")
            self._child.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise PeerFailed(self._last_words()) from None
        if not select.select([self._answers], [], [], self._timeout)[0]:
            self._child.kill()
            raise PeerFailed(f"no answer within {self._timeout:g} s")
        line = self._answers.readline()
        if not line:
            raise PeerFailed(self._last_words())
        try:
            return json.loads(line)
        except ValueError:
            raise PeerFailed(f"not an answer: {line.rstrip()}") from None

    def _last_words(self) -> str:
        """How the child ended, and the end of what it said."""
        if self._said.closed:
            return "the process was closed"
        self._child.kill()  # It no longer listens.
        self._said.seek(0)
        said = self._said.read().strip()[-2000:]
        return f"the process ended with code {self._child.wait()}: {said}"


class OtherModel:
    """A case of the child: forward and train step, timed there.

    Args:
        case: Its name in the child.
        inputs: Arrays, as the model is called with.
        target: What it is trained towards.
        weights: By the names that the case knows.
        settings: Words and numbers that the case is built with.
        process: Who is asked. None takes one that all models share.

    Raises:
        PeerNotInstalled: Its package is missing.
        PeerFailed: It could not be built.
    """

    def __init__(
        self,
        case: str,
        inputs: Sequence[np.ndarray],
        target: np.ndarray,
        weights: dict[str, np.ndarray],
        settings: dict[str, Any] | None = None,
        process: OtherProcess | None = None,
    ) -> None:
        self._process = process or shared()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "arrays.npz"))
            numbered = {f"input_{i}": x for i, x in enumerate(inputs)}
            np.savez(path, **numbered, target=target, **weights)
            answer = self._process.ask(
                do="build", case=case, path=path, settings=settings or {}
            )
        self._number = answer["model"]
        #: Which of the ways to run it was the fastest, by what was run.
        self.how: dict[str, str] = {}
        #: The loss of the last train step, before its update.
        self.loss: float | None = None

    def forward(self, times: int = 1) -> list[float]:
        """Seconds of each of so many warm calls."""
        return self._run("forward", times)["seconds"]

    def train_step(self, times: int = 1) -> list[float]:
        """Seconds of each of so many warm steps of SGD."""
        answer = self._run("train_step", times)
        self.loss = answer["loss"]
        return answer["seconds"]

    def output(self) -> np.ndarray:
        """What a call returns."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "output.npy"))
            self._process.ask(do="output", model=self._number, path=path)
            return np.load(path)

    def close(self) -> None:
        """Lets the child forget the model."""
        if self._process.is_alive:
            self._process.ask(do="forget", model=self._number)

    def _run(self, what: str, times: int) -> dict[str, Any]:
        answer = self._process.ask(do=what, model=self._number, times=times)
        self.how[what] = answer["how"]
        return answer


_shared: list[OtherProcess] = []


def shared() -> OtherProcess:
    """The one process that all models share, started when first needed."""
    if not (_shared and _shared[-1].is_alive):
        process = OtherProcess()
        atexit.register(process.close)
        _shared[:] = [process]
    return _shared[-1]


def _close(file: Any) -> None:
    try:
        file.close()
    except BrokenPipeError:  # What was not read is of no use any more.
        pass
