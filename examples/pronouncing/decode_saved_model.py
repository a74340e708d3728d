"""Pronounces words with the SavedModel beside this file: TensorFlow only.

python decode.py WORD...        or one word a line on standard input
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = Path(__file__).parent
BATCH_SIZE = 1000


def phonemes_of(words: list[str], model, vocabulary: dict) -> list[str]:
    letters = vocabulary["letters"]
    unknown = set("".join(words).lower()) - set(letters)
    if unknown:
        sys.exit(f"{sys.argv[0]}: error: unknown letters {sorted(unknown)}")
    rows = [
        [letters.index(letter) for letter in word.lower()] for word in words
    ]
    ids = tf.ragged.constant(rows, dtype="int32").to_tensor()
    decoded = model.pronounce(ids)["tokens"].numpy()
    end = vocabulary["phonemes"].index("<end>")
    return [
        " ".join(vocabulary["phonemes"][id] for id in row if id != end)
        for row in decoded
    ]


def main() -> None:
    words = sys.argv[1:] or sys.stdin.read().split()
    vocabulary = json.loads((HERE / "vocabulary.json").read_text("utf-8"))
    model = tf.saved_model.load(str(HERE / "saved_model"))
    for first in range(0, len(words), BATCH_SIZE):
        batch = words[first : first + BATCH_SIZE]
        for word, phonemes in zip(
            batch, phonemes_of(batch, model, vocabulary), strict=True
        ):
            print(f"{word}\t{phonemes}")


if __name__ == "__main__":
    main()
