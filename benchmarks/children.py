"""Child processes that answer with one line of JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


class ChildDied(Exception):
    """A child ended without an answer; the message says how."""


def answer(*arguments: str) -> Any:
    """The last line of `python ARGUMENTS`, as JSON.

    Raises:
        ChildDied: It ended otherwise.
    """
    finished = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    if finished.returncode:
        said = (finished.stderr.strip().splitlines() or [""])[-1]
        raise ChildDied(f"code {finished.returncode}: {said[:200]}")
    return json.loads(finished.stdout.splitlines()[-1])
