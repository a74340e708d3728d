"""What the command lines of the examples share."""

import contextlib
import importlib
import importlib.util
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn


def fail(message: str) -> NoReturn:
    """Ends the program with one line on standard error and status 2."""
    program = Path(sys.argv[0]).name
    print(f"{program}: error: {message}", file=sys.stderr)
    raise SystemExit(2)


def require(module: str, extra: str) -> None:
    """Ends the program if `module`, which `extra` installs, is missing."""
    if importlib.util.find_spec(module) is None:
        fail(
            f"the Python module `{module}` is not installed; "
            f'run in the repository: pip install -e ".[{extra}]"'
        )


def writable_folder(path: str | Path) -> Path:
    """Makes the folder if need be; ends the program if it is read-only."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        fail(f"cannot write to the folder {folder}: {error.strerror}")
    return folder


def silence_tensorflow() -> None:
    """Imports Keras and its backend without TensorFlow's notes.

    Those of its start-up are written from C++ before any log level is read,
    so the file descriptor itself is turned away while it is imported.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # Several models in one process look like retracing, and are reported so.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    with _standard_error_kept_back():
        importlib.import_module("keras")


@contextlib.contextmanager
def _standard_error_kept_back() -> Iterator[None]:
    """Shows what was written to file descriptor 2 only on an exception."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as notes:
        os.dup2(notes.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(kept, 2)
            notes.seek(0)
            os.write(2, notes.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
