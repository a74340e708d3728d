"""Multi30k: captions of photographs in German and in English.

The files are those that the authors tokenised and lower-cased by Moses
(`*.lc.norm.tok.*`), a sentence a line. Nothing is fetched but by `download`.

Reference:
    [Elliott et al., 2016](https://arxiv.org/abs/1605.00459);
    https://github.com/multi30k/dataset
"""

import gzip
import hashlib
import html
import os
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LICENCE = (
    "Multi30k is derived from Flickr30k, and given to researchers and "
    "educators for non-commercial research and education."
)
COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
ADDRESS = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/tok"
TIMEOUT = 60  # Seconds without an answer.

SPLITS = {"train": "train", "dev": "val", "test": "test_2016_flickr"}

# SHA-256 of each file.
CHECKSUMS = {
    "train.lc.norm.tok.de": (
        "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505"
    ),
    "train.lc.norm.tok.en": (
        "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119"
    ),
    "val.lc.norm.tok.de": (
        "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00"
    ),
    "val.lc.norm.tok.en": (
        "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec"
    ),
    "test_2016_flickr.lc.norm.tok.de": (
        "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4"
    ),
    "test_2016_flickr.lc.norm.tok.en": (
        "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2"
    ),
}

Words = tuple[str, ...]


class DataError(Exception):
    """A file is missing, is another one, or cannot be fetched."""


class SentencePair(NamedTuple):
    german: Words
    english: Words


def download(folder: Path, tell: Callable[[str], None] = print) -> None:
    """Fetches the files that the folder lacks, and checks all of them.

    Raises:
        DataError: The address does not answer, or a file has another
            checksum; it is not kept then.
    """
    for name, checksum in CHECKSUMS.items():
        path = folder / name
        if path.exists():
            _check(path, path.read_bytes(), checksum)
            continue
        address = f"{ADDRESS}/{name}"
        tell(f"Fetching {address}")
        content = _fetched(address)
        _check(address, content, checksum)
        part = path.with_name(f"part-{name}")
        part.write_bytes(content)
        os.replace(part, path)  # A run that is killed leaves no half file.


def read(folder: Path, split: str) -> list[SentencePair]:
    """The pairs of `"train"`, `"dev"` or `"test"`.

    Raises:
        DataError: A file is missing or is no text, or the two languages have
            not the same number of sentences.
    """
    names = [f"{SPLITS[split]}.lc.norm.tok.{code}" for code in ("de", "en")]
    german, english = (_sentences(folder, name) for name in names)
    if len(german) != len(english):
        raise DataError(
            f"{names[0]} has {len(german):,} sentences and "
            f"{names[1]} has {len(english):,}"
        )
    return [SentencePair(*pair) for pair in zip(german, english, strict=True)]


def _fetched(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            return answer.read()
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"cannot fetch {address}: {reason}") from None


def _check(where: Path | str, content: bytes, checksum: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise DataError(
            f"{where} is another file than expected: its SHA-256 is "
            f"{found}, not {checksum}"
        )


def _sentences(folder: Path, name: str) -> list[Words]:
    try:
        text = _bytes(folder / name).decode()
    except FileNotFoundError:
        raise DataError(
            f"no file {name} in the folder {folder}; name another by --data, "
            "or add --download, for research and education (see --help)"
        ) from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {folder / name}: {error}") from None
    # Moses writes apostrophes and their like as `&apos;`.
    return [
        tuple(map(html.unescape, line.split())) for line in text.splitlines()
    ]


def _bytes(path: Path) -> bytes:
    packed = path.with_name(path.name + ".gz")
    if packed.exists() and not path.exists():
        return gzip.decompress(packed.read_bytes())
    return path.read_bytes()
