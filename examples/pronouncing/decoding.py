"""Greedy decoding: one step model in a loop."""

from collections.abc import Sequence

import numpy as np
from keras import ops

from pronouncing.batches import pad
from pronouncing.dictionary import END, START, Phonemes, Vocabulary
from pronouncing.network import StepByStep

BATCH_SIZE = 1000


def greedy(models: StepByStep, letters) -> dict:
    """Letters (B, S) -> the most probable phoneme, again and again.

    Returns:
        `phonemes` (B, T), `<end>` and padding behind each word, and
        `alignments` (B, T, S), with T = 2 S + 8.
    """
    batch, width = ops.shape(letters)
    longest = 2 * width + 8
    value, value_mask, *states = models.encoder(letters)
    steps = ops.arange(longest)

    def unfinished(position, token, *_):
        return ops.any(token != END) & (position < longest)

    def advance(position, token, phonemes, alignments, *states):
        where = ops.broadcast_to(position, (batch, 1))
        logits, weights, _next, *states = models.step(
            [token, where, value, value_mask, *states]
        )
        chosen = ops.expand_dims(ops.argmax(logits, axis=-1), 1)
        chosen = ops.where(token == END, END, ops.cast(chosen, "int32"))
        now = steps == position
        phonemes = ops.where(now, chosen, phonemes)
        alignments = ops.where(
            ops.reshape(now, (1, -1, 1)),
            ops.expand_dims(weights, 1),
            alignments,
        )
        return position + 1, chosen, phonemes, alignments, *states

    _, _, phonemes, alignments, *_ = ops.while_loop(
        unfinished,
        advance,
        (
            ops.convert_to_tensor(0, "int32"),
            ops.full((batch, 1), START, "int32"),
            ops.full((batch, longest), END, "int32"),
            ops.zeros((batch, longest, width)),
            *states,
        ),
    )
    return {"phonemes": phonemes, "alignments": alignments}


class Pronouncer:
    """Words in, phonemes and alignments out, in large batches."""

    def __init__(self, models: StepByStep, vocabulary: Vocabulary) -> None:
        import tensorflow as tf

        self.models = models
        self.vocabulary = vocabulary
        self.signature = [tf.TensorSpec((None, None), "int32", "letters")]
        self.decode = tf.function(
            lambda letters: greedy(models, letters),
            input_signature=self.signature,
        )

    def __call__(
        self, words: Sequence[str]
    ) -> dict[str, tuple[Phonemes, np.ndarray]]:
        """word -> (phonemes, alignment (phonemes and end mark, letters))."""
        words = sorted(set(words), key=lambda word: (len(word), word))
        spoken = {}
        for first in range(0, len(words), BATCH_SIZE):
            spoken |= self._batch(words[first : first + BATCH_SIZE])
        return spoken

    def _batch(self, words: Sequence[str]) -> dict:
        rows = [self.vocabulary.encode_word(word) for word in words]
        letters = pad(rows, (len(rows), max(map(len, rows))))
        decoded = self.decode(letters)
        found = {}
        for word, row, ids, weights in zip(
            words,
            rows,
            decoded["phonemes"].numpy(),
            decoded["alignments"].numpy(),
            strict=True,
        ):
            phonemes = self.vocabulary.decode_phonemes(ids)
            found[word] = phonemes, weights[: len(phonemes) + 1, : len(row)]
        return found
