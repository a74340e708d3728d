"""The model, and the pairs it learns from."""

from collections.abc import Sequence

import keras
from sequences import training
from sequences.batches import Pair
from sequences.network import Sizes, encoder_decoder

import keras_attention as ka
from pronouncing import mechanisms
from pronouncing.dictionary import Pronunciations, Vocabulary
from pronouncing.settings import Settings

#: Of letters, and of phonemes with one mark: what batches are padded to.
LENGTHS = ((8, 9), (12, 13), (16, 17), (28, 29))

#: More phonemes than any word of the longest length has.
LONGEST = 64


def new_model(settings: Settings, vocabulary: Vocabulary) -> ka.EncoderDecoder:
    keras.utils.set_random_seed(settings.seed)
    sizes = Sizes(
        len(vocabulary.letters),
        len(vocabulary.phonemes),
        LONGEST,
        settings.units,
        settings.embedding,
        settings.layers,
        settings.dropout,
    )
    attention = mechanisms.build(settings.attention, settings.units)
    model = encoder_decoder(sizes, attention, settings.order, "pronounce")
    return training.compiled(model, settings.learning_rate)


def pairs(
    words: Sequence[str], pronunciations: Pronunciations, vocabulary: Vocabulary
) -> list[Pair]:
    """Every variant of every word as (letters, phonemes)."""
    return [
        (vocabulary.encode_word(word), vocabulary.phonemes.marked(variant))
        for word in words
        for variant in pronunciations[word]
    ]
