"""Child processes that answer with one line of JSON."""

import json
import re
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
        said = _error(finished.stderr.strip().splitlines())
        raise ChildDied(f"code {finished.returncode}: {said[:200]}")
    return json.loads(finished.stdout.splitlines()[-1])


def _error(lines: list[str]) -> str:
    """The line that names the exception, or else the last one."""
    named = [
        line for line in lines if re.match(r"[\w.]+(Error|Exception)", line)
    ]
    return (named or lines or [""])[-1]
