"""Padded batches of sequences of similar length."""

import bisect
from collections.abc import Iterator, Sequence

import numpy as np

#: Source, and target with its start and end.
Pair = tuple[list[int], list[int]]
Batch = tuple[tuple[np.ndarray, np.ndarray], np.ndarray]
#: Steps of the source, and tokens that are given to the decoder.
Lengths = Sequence[tuple[int, int]]


def pad(rows: Sequence[Sequence[int]], shape: tuple[int, int]) -> np.ndarray:
    """Rows of integers, zeros behind and below them: `shape`."""
    padded = np.zeros(shape, "int32")
    for filled, row in zip(padded, rows, strict=False):
        filled[: len(row)] = row
    return padded


class Batches:
    """Teacher-forced batches: source and given tokens in, next tokens out.

    A batch holds pairs that fit the same lengths; rows that are left over in
    the last batch of these are padding through and through, which masks
    remove. Pairs that are too long for the last lengths are left out.

    Args:
        pairs: `(source, target)`, the latter with start and end marks.
        batch_size: Pairs in a batch.
        lengths: To which batches are padded, from short to long.
        seed: Shuffles anew before every epoch; `None` keeps the order.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        batch_size: int,
        lengths: Lengths,
        seed: int | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.random = None if seed is None else np.random.default_rng(seed)
        self.buckets = _buckets(pairs, lengths)

    def __len__(self) -> int:
        return len(self._plan())

    def __iter__(self) -> Iterator[Batch]:
        plan = self._plan()
        if self.random is not None:
            for bucket in self.buckets.values():
                self.random.shuffle(bucket)
            self.random.shuffle(plan)
        for lengths, first in plan:
            rows = self.buckets[lengths][first : first + self.batch_size]
            yield self._batch(rows, *lengths)

    def dataset(self):
        """As a `tf.data.Dataset` that knows its number of batches."""
        import tensorflow as tf

        ids = tf.TensorSpec((None, None), "int32")
        dataset = tf.data.Dataset.from_generator(
            lambda: iter(self), output_signature=((ids, ids), ids)
        )
        counted = tf.data.experimental.assert_cardinality(len(self))
        return dataset.apply(counted).prefetch(2)

    def _plan(self) -> list[tuple[tuple[int, int], int]]:
        return [
            (lengths, first)
            for lengths, bucket in self.buckets.items()
            for first in range(0, len(bucket), self.batch_size)
        ]

    def _batch(self, rows: Sequence[Pair], steps: int, given: int) -> Batch:
        shape = (self.batch_size, given)
        return (
            pad([source for source, _ in rows], (self.batch_size, steps)),
            pad([target[:-1] for _, target in rows], shape),
        ), pad([target[1:] for _, target in rows], shape)


def _buckets(
    pairs: Sequence[Pair], lengths: Lengths
) -> dict[tuple[int, int], list[Pair]]:
    """Each pair among the first lengths that both of its sides fit."""
    steps, given = zip(*lengths, strict=True)
    buckets: dict[tuple[int, int], list[Pair]] = {fit: [] for fit in lengths}
    for source, target in pairs:
        place = max(
            bisect.bisect_left(steps, len(source)),
            bisect.bisect_left(given, len(target) - 1),
        )
        if place < len(lengths):
            buckets[lengths[place]].append((source, target))
    return buckets
