"""Train, dev and test: a property of each name alone."""

import hashlib
from collections.abc import Iterable

TEST_PERCENT, DEV_PERCENT = 10, 2


def fingerprint(name: str) -> int:
    """The same number for the same name, on every machine and day."""
    digest = hashlib.sha256(name.lower().encode()).digest()
    return int.from_bytes(digest[:8], "big")


def side(name: str) -> str:
    """`"test"`, `"dev"` or `"train"`."""
    percent = fingerprint(name) % 100
    if percent < TEST_PERCENT:
        return "test"
    return "dev" if percent < TEST_PERCENT + DEV_PERCENT else "train"


def split(names: Iterable[str]) -> dict[str, list[str]]:
    """The names of each side in the order of their fingerprints.

    So the first n of a side are a fixed random sample.
    """
    sides: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for name in sorted(names, key=lambda name: (fingerprint(name), name)):
        sides[side(name)].append(name)
    return sides
