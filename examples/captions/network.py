"""The model: Luong's, with input feeding, or Bahdanau's."""

import keras
from sequences import training
from sequences.network import Sizes, encoder_decoder

import keras_attention as ka
from captions.settings import Settings
from captions.vocabulary import Vocabulary

#: Of German words, and of English ones with one mark: what batches are padded
#: to. One graph runs them all, so that many lengths cost nothing.
LENGTHS = (
    *((10, 11), (12, 13), (14, 15), (17, 18), (21, 22), (30, 30)),
    (50, 50),
)

#: How many words a translation has at most, its end among them.
LONGEST = LENGTHS[-1][1]


def new_model(settings: Settings, vocabulary: Vocabulary) -> ka.EncoderDecoder:
    keras.utils.set_random_seed(settings.seed)
    sizes = Sizes(
        source=len(vocabulary.german),
        target=len(vocabulary.english),
        longest=LONGEST,
        units=settings.units,
        embedding=settings.embedding,
        layers=settings.layers,
        dropout=settings.dropout,
        input_dropout=settings.dropout,
    )
    attention = {
        # Unscaled scores grow sharp on wrong words, and stay there.
        "luong": ka.LuongAttention("scaled_dot"),
        "bahdanau": ka.BahdanauAttention(settings.units),
    }[settings.attention]
    model = encoder_decoder(
        sizes, attention, order=settings.attention, name="translate"
    )
    return training.compiled(
        model, settings.learning_rate, settings.label_smoothing
    )
