"""Sequences that a trained model writes, asked in large batches."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import keras_attention as ka
from sequences.batches import pad
from sequences.symbols import END


class Written(NamedTuple):
    """Tokens up to their end, and the weights `(tokens, read)`."""

    tokens: np.ndarray
    weights: np.ndarray


def search(beam: int) -> dict[str, Any]:
    """The options of `generate` for a beam so wide: 1 is greedy."""
    return {"strategy": "beam", "width": beam}


def generated(
    model: ka.EncoderDecoder,
    rows: Sequence[Sequence[int]],
    batch_size: int,
    steps: int,
    **search: Any,
) -> Iterator[Written]:
    """What the model writes for each row.

    Args:
        model: A trained model.
        rows: Sources, of any length.
        batch_size: Rows that are asked at once.
        steps: All batches are padded to so many, or to the longest row: one
            shape, one program.
        **search: The options of `model.generate`.
    """
    steps = max(steps, *map(len, rows))
    for first in range(0, len(rows), batch_size):
        batch = rows[first : first + batch_size]
        found = model.generate(pad(batch, (batch_size, steps)), **search)
        tokens, weights = map(np.asarray, (found.tokens, found.alignments))
        for row, written, looked in zip(batch, tokens, weights, strict=False):
            count = _up_to_end(written)
            yield Written(written[:count], looked[:count, : len(row)])


def _up_to_end(tokens: np.ndarray) -> int:
    """How many tokens there are, the end among them."""
    ends = np.flatnonzero(tokens == END)
    return int(ends[0]) + 1 if len(ends) else len(tokens)
