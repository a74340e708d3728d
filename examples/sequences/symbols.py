"""Letters, phonemes or words as integers."""

import dataclasses
from collections.abc import Iterable

PADDING, START, END, UNKNOWN = 0, 1, 2, 3
MARKS = ("<padding>", "<start>", "<end>")
UNKNOWN_MARK = "<unknown>"


class UnknownSymbol(ValueError):
    """A symbol has no number, and there is none for unknown ones."""


@dataclasses.dataclass(frozen=True)
class Symbols:
    """Numbered by their place; first come the marks."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], with_unknown: bool = False) -> "Symbols":
        """The names in this order, behind the marks."""
        marks = (*MARKS, UNKNOWN_MARK) if with_unknown else MARKS
        return cls((*marks, *names))

    def __post_init__(self) -> None:
        ids = {name: index for index, name in enumerate(self.names)}
        object.__setattr__(self, "_ids", ids)

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, row: Iterable[str]) -> list[int]:
        """The numbers of a row, without marks."""
        return [self._id(name) for name in row]

    def marked(self, row: Iterable[str]) -> list[int]:
        """The numbers of a row between start and end."""
        return [START, *self.encode(row), END]

    def decode(self, ids: Iterable[int]) -> tuple[str, ...]:
        """What stands before the first end; no other marks."""
        names = []
        for index in ids:
            if index == END:
                break
            if index not in (PADDING, START):
                names.append(self.names[index])
        return tuple(names)

    def _id(self, name: str) -> int:
        found = self._ids.get(name, self._ids.get(UNKNOWN_MARK))
        if found is None or name in MARKS:
            raise UnknownSymbol(f"{name!r} is not among the symbols")
        return found
