"""What one row of a benchmark is about."""

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Size:
    """The sizes of one run.

    Args:
        batch: Examples.
        steps: Queries, and as many keys.
        dim: Last axis of both, and units of the additive score.
        heads: Of multi-head attention; each has `dim / heads` numbers.
    """

    batch: int = 1
    steps: int = 128
    dim: int = 64
    heads: int = 4


@dataclasses.dataclass(frozen=True)
class Case(Size):
    """One row: a size, and what is done with it.

    Args:
        way: How the layers are called; see `ways`.
        dtype: A dtype policy, such as `"mixed_bfloat16"`.
        layer: Which of several layers, where a benchmark has several.
        lengths: Which lengths are met, where a benchmark meets many.
    """

    way: str = ""
    dtype: str = "float32"
    layer: str = ""
    lengths: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Case":
        """The case that `key` was taken of."""
        return cls(**row)

    def key(self) -> dict[str, Any]:
        """What a results file says of the case; fit for JSON."""
        return {k: v for k, v in dataclasses.asdict(self).items() if v != ""}

    def matches(self, wanted: Mapping[str, str]) -> bool:
        """Whether the case has these values, as `matches`."""
        return matches(self.key(), wanted)

    def __str__(self) -> str:
        key = self.key()
        named = ("layer", "way", "dtype", "lengths")
        words = [key[name] for name in named if name in key]
        return " ".join([*words, f"T={self.steps}"])


def matches(key: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Whether a case's key has these values.

    Args:
        key: Of a row.
        wanted: For some of its names, one or more values as text, with a
            comma between them.
    """
    return all(
        str(key.get(name)) in values.split(",")
        for name, values in wanted.items()
    )
