"""Characters as integers, on both sides."""

from collections.abc import Iterable, Mapping, Sequence

from sequences.symbols import Symbols

ISO = Symbols.of("-0123456789")


def names(characters: Iterable[str]) -> dict[str, Sequence[str]]:
    """What a file says of both sides."""
    read = Symbols.of(sorted(characters))
    return {"characters": read.names, "iso": ISO.names}


def characters(names: Mapping[str, Sequence[str]]) -> Symbols:
    """Those that are read, out of what `names` gives."""
    return Symbols(tuple(names["characters"]))
