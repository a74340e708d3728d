"""The model, and the pairs it learns from."""

from collections.abc import Iterable

import keras
from sequences import training
from sequences.batches import Pair
from sequences.network import Sizes, encoder_decoder
from sequences.symbols import Symbols

import keras_attention as ka
from dates.settings import Settings
from dates.strings import DateString
from dates.vocabulary import ISO

#: Of an ISO date, its end among them.
LONGEST = len("2016-03-02") + 1

#: What batches are padded to.
LENGTHS = ((12, LONGEST), (20, LONGEST), (48, LONGEST))


def new_model(settings: Settings, characters: Symbols) -> ka.EncoderDecoder:
    keras.utils.set_random_seed(settings.seed)
    sizes = Sizes(
        source=len(characters),
        target=len(ISO),
        longest=LONGEST,
        units=settings.units,
        embedding=settings.embedding,
        layers=settings.layers,
        dropout=settings.dropout,
    )
    attention = {
        "bahdanau": ka.BahdanauAttention(settings.units),
        "bahdanau-normalized": ka.BahdanauAttention(
            settings.units, normalize=True
        ),
        "luong": ka.LuongAttention("general"),
    }[settings.attention]
    model = encoder_decoder(sizes, attention, settings.order, "dates")
    return training.compiled(model, settings.learning_rate)


def pairs(strings: Iterable[DateString], characters: Symbols) -> list[Pair]:
    return [
        (characters.encode(string.text), ISO.marked(string.iso))
        for string in strings
    ]
