"""An encoder that reads both ways, and a decoder that attends to it.

h_1 .. h_S = encoder(source)              bidirectional LSTMs
s_0        = the encoder's state at the first token, read backwards
p(y_i)     = decoder(y_{i-1}, s_{i-1}, h) LSTMs with attention
"""

import dataclasses

import keras
from keras import layers

import keras_attention as ka
from sequences.symbols import END, START


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of a network.

    Args:
        source: Symbols that are read.
        target: Symbols that are written.
        longest: How many are written at most, the end among them.
        units: Of each LSTM, and of the encoder's outputs.
        embedding: Of a symbol, on both sides.
        layers: LSTMs of the encoder, and of the decoder.
        dropout: Between layers.
        input_dropout: Of what the decoder's first LSTM reads.
    """

    source: int
    target: int
    longest: int
    units: int = 128
    embedding: int = 64
    layers: int = 1
    dropout: float = 0.0
    input_dropout: float = 0.0


def encoder_decoder(
    sizes: Sizes, attention: keras.Layer, order: str, name: str
) -> ka.EncoderDecoder:
    """In Luong's order with input feeding, or in Bahdanau's."""
    rates = [sizes.input_dropout, *[sizes.dropout] * (sizes.layers - 1)]
    cells = [layers.LSTMCell(sizes.units, dropout=rate) for rate in rates]
    cell = ka.AttentionCell(
        cells[0] if len(cells) == 1 else layers.StackedRNNCells(cells),
        attention,
        order,
        units=sizes.units,
        input_feeding=order == "luong",
    )
    output = keras.Sequential(
        [layers.Dropout(sizes.dropout), layers.Dense(sizes.target)]
    )
    embedding = layers.Embedding(sizes.target, sizes.embedding, mask_zero=True)
    decoder = ka.AttentionDecoder(cell, embedding, output)
    model = ka.EncoderDecoder(
        _encoder(sizes), decoder, START, END, sizes.longest, name=name
    )
    tokens = keras.ops.ones((1, 2), "int32")
    model([tokens, tokens])  # Its weights exist now.
    return model


def _encoder(sizes: Sizes) -> keras.Model:
    """Tokens `(B, S)` -> `[h (B, S, units), first states of the decoder]`."""
    tokens = keras.Input((None,), dtype="int32")
    h = layers.Embedding(sizes.source, sizes.embedding, mask_zero=True)(tokens)
    h = layers.Dropout(sizes.dropout)(h)
    states = []
    for index in range(sizes.layers):
        lstm = layers.LSTM(
            sizes.units,
            return_sequences=True,
            return_state=True,
            dropout=sizes.dropout if index else 0.0,
        )
        h, _, _, *backward = layers.Bidirectional(lstm, merge_mode="sum")(h)
        states += backward
    return keras.Model(tokens, [h, *states], name="encoder")
