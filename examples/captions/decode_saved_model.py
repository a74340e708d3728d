"""Translates with the SavedModel beside this file: TensorFlow only.

python decode.py SENTENCE...    or one sentence a line on standard input

Words and punctuation marks are separated by spaces.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = Path(__file__).parent
BATCH_SIZE = 100


def translated(sentences: list[str], model, vocabulary: dict) -> list[str]:
    german, english = vocabulary["german"], vocabulary["english"]
    number = {word: index for index, word in enumerate(german)}
    unknown = number["<unknown>"]
    rows = [
        [number.get(word, unknown) for word in sentence.lower().split()]
        for sentence in sentences
    ]
    ids = tf.ragged.constant(rows, dtype="int32").to_tensor()
    end = english.index("<end>")
    return [
        " ".join(english[index] for index in row if index != end)
        for row in model.translate(ids)["tokens"].numpy()
    ]


def main() -> None:
    sentences = sys.argv[1:] or sys.stdin.read().splitlines()
    vocabulary = json.loads((HERE / "vocabulary.json").read_text("utf-8"))
    model = tf.saved_model.load(str(HERE / "saved_model"))
    for first in range(0, len(sentences), BATCH_SIZE):
        batch = sentences[first : first + BATCH_SIZE]
        for sentence, english in zip(
            batch, translated(batch, model, vocabulary), strict=True
        ):
            print(f"{sentence}\t{english}")


if __name__ == "__main__":
    main()
