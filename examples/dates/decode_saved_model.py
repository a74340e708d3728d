"""Dates to ISO 8601 with the SavedModel beside this file: TensorFlow only.

python decode.py DATE...        or one date a line on standard input
"""

import json
import os
import re
import sys
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
BATCH_SIZE = 500


def typed(text: str) -> str:
    """As it comes from a keyboard, in small letters.

    One kind of space, one form of each letter, and no invisible characters.
    """
    text = unicodedata.normalize("NFKC", text).lower()
    visible = (c for c in text if unicodedata.category(c) != "Cf")
    return re.sub(r"\s+", " ", "".join(visible)).strip()


def translated(texts: list[str], model, vocabulary: dict) -> list[str]:
    import tensorflow as tf

    characters, iso = vocabulary["characters"], vocabulary["iso"]
    unknown = set("".join(map(typed, texts))) - set(characters)
    if unknown:
        sys.exit(f"{sys.argv[0]}: error: unknown letters {sorted(unknown)}")
    rows = [[characters.index(c) for c in typed(text)] for text in texts]
    ids = tf.ragged.constant(rows, dtype="int32").to_tensor()
    end = iso.index("<end>")
    return [
        "".join(iso[index] for index in row if index != end)
        for row in model.translate(ids)["tokens"].numpy()
    ]


def main() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    texts = sys.argv[1:] or sys.stdin.read().splitlines()
    vocabulary = json.loads((HERE / "vocabulary.json").read_text("utf-8"))
    model = tf.saved_model.load(str(HERE / "saved_model"))
    for first in range(0, len(texts), BATCH_SIZE):
        batch = texts[first : first + BATCH_SIZE]
        for text, date in zip(
            batch, translated(batch, model, vocabulary), strict=True
        ):
            print(f"{text}\t{date}")


if __name__ == "__main__":
    main()
