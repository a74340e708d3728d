"""A benchmark's results in a file, row by row."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import machine
from benchmarks.cases import Case

Result = dict[str, Any]


class Results:
    """What one benchmark has found, kept in a file after each row.

    Args:
        name: The benchmark's.
        facts: Of the machine, and what else holds for all rows.
        folder: Where `NAME.json` is written; None keeps all in memory.
        resume: Whether to keep the rows that the file has.

    Raises:
        ValueError: The file to resume was made on another machine, by other
            versions, or in another setting.
    """

    def __init__(
        self,
        name: str,
        facts: dict[str, Any],
        folder: Path | None = None,
        resume: bool = False,
    ) -> None:
        self.path = folder / f"{name}.json" if folder else None
        self.result: Result = {"benchmark": name, **facts, "rows": []}
        if resume and self.path and self.path.exists():
            self._resume(json.loads(self.path.read_text()))

    def __contains__(self, case: Case) -> bool:
        return any(row["case"] == case.key() for row in self.result["rows"])

    def add(self, row: dict[str, Any]) -> None:
        """Appends a row and writes the file."""
        self.result["rows"].append(row)
        self._write()

    def summarise(self, suite: ModuleType) -> None:
        """Adds what the benchmark concludes from its rows, if anything."""
        if hasattr(suite, "summary"):
            self.result["summary"] = suite.summary(self.result["rows"])
            self._write()

    def _write(self) -> None:
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.result, indent=1) + "\n")

    def _resume(self, earlier: Result) -> None:
        for name, fact in self.result["machine"].items():
            before = earlier["machine"].get(name)
            if name not in machine.MAY_DIFFER and before != fact:
                raise ValueError(
                    f"{self.path} was made with {name} {before}, this is "
                    f"{fact}: leave out --resume to begin anew"
                )
        if earlier["quick"] != self.result["quick"]:
            raise ValueError(f"{self.path} mixes with --quick")
        self.result = earlier
