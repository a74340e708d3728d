"""Padded batches of words of similar length."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from pronouncing.dictionary import Pronunciations, Vocabulary

# Every batch is padded to one of these lengths.
LENGTHS = (8, 12, 16, 28)

Pair = tuple[list[int], list[int]]
Batch = tuple[tuple[np.ndarray, np.ndarray], np.ndarray]


def pad(rows: Sequence[Sequence[int]], shape: tuple[int, int]) -> np.ndarray:
    """Rows of integers, zeros behind and below them: `shape`."""
    padded = np.zeros(shape, "int32")
    for filled, row in zip(padded, rows, strict=False):
        filled[: len(row)] = row
    return padded


def pairs(
    words: Sequence[str], pronunciations: Pronunciations, vocabulary: Vocabulary
) -> list[Pair]:
    """Every variant of every word as (letters, phonemes)."""
    return [
        (vocabulary.encode_word(word), vocabulary.encode_phonemes(variant))
        for word in words
        for variant in pronunciations[word]
    ]


class Batches:
    """Teacher-forced batches: letters and phonemes in, next phonemes out.

    A batch holds words of one length bucket; rows that are left over in the
    last batch of a bucket are padding through and through, which masks
    remove. Longer words than the longest bucket are left out.

    Args:
        pairs: `(letters, phonemes)`, the latter with start and end marks.
        batch_size: Words in a batch.
        seed: Shuffles anew before every epoch; `None` keeps the order.
        lengths: Of the buckets.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        batch_size: int,
        seed: int | None = None,
        lengths: Sequence[int] = LENGTHS,
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
        for length, first in plan:
            rows = self.buckets[length][first : first + self.batch_size]
            yield self._batch(rows, length)

    def dataset(self):
        """As a `tf.data.Dataset` that knows its number of batches."""
        import tensorflow as tf

        ids = tf.TensorSpec((None, None), "int32")
        dataset = tf.data.Dataset.from_generator(
            lambda: iter(self), output_signature=((ids, ids), ids)
        )
        counted = tf.data.experimental.assert_cardinality(len(self))
        return dataset.apply(counted).prefetch(2)

    def _plan(self) -> list[tuple[int, int]]:
        return [
            (length, first)
            for length, bucket in self.buckets.items()
            for first in range(0, len(bucket), self.batch_size)
        ]

    def _batch(self, rows: Sequence[Pair], length: int) -> Batch:
        letters = pad([row[0] for row in rows], (self.batch_size, length))
        # One more than the phonemes: the mark at the start or at the end.
        shape = (self.batch_size, length + 1)
        given = pad([row[1][:-1] for row in rows], shape)
        wanted = pad([row[1][1:] for row in rows], shape)
        return (letters, given), wanted


def _buckets(
    pairs: Sequence[Pair], lengths: Sequence[int]
) -> dict[int, list[Pair]]:
    return {
        length: [pair for pair in pairs if shorter < _length(pair) <= length]
        for shorter, length in itertools.pairwise([0, *lengths])
    }


def _length(pair: Pair) -> int:
    letters, phonemes = pair
    return max(len(letters), len(phonemes) - 2)
