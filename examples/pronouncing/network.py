"""The encoder-decoder: trained in one pass, used step by step.

Luong's order, without input feeding: the decoder's NEW states are the
queries, so that teacher forcing attends for all phonemes at once.

    h_1 .. h_S = encoder(letters)                        bidirectional LSTM
    s_t        = decoder(y_{t-1}, s_{t-1})               LSTM
    c_t        = attention(query=s_t, value=h)
    p(y_t)     = softmax(W tanh(V [c_t; s_t]))
"""

import dataclasses

import keras
from keras import layers, ops

import keras_attention as ka
from pronouncing import mechanisms
from pronouncing.dictionary import PADDING, Vocabulary
from pronouncing.run import Settings


def training_model(settings: Settings, vocabulary: Vocabulary) -> keras.Model:
    """(letters (B, S), given phonemes (B, T)) -> logits (B, T, phonemes)."""
    letters = keras.Input((None,), dtype="int32", name="letters")
    given = keras.Input((None,), dtype="int32", name="given")
    value, states = _encode(letters, settings, vocabulary)
    queries = _decode(given, states, settings, vocabulary)
    attention = mechanisms.build(settings.attention, settings.units)
    # The weights go unused here, but Keras builds the step model from the
    # number of outputs of a layer's first call.
    context, _ = _named(attention, "attention")(
        queries, value, return_attention_scores=True
    )
    both = layers.Concatenate(name="both")([context, queries])
    attentional = layers.Dense(
        settings.units, activation="tanh", name="attentional"
    )(both)
    attentional = layers.Dropout(settings.dropout, name="drop")(attentional)
    logits = layers.Dense(len(vocabulary.phonemes), name="logits")(attentional)
    return keras.Model([letters, given], logits, name="pronounce")


def _encode(letters, settings: Settings, vocabulary: Vocabulary):
    """-> states of the letters (B, S, units), first states of the decoder."""
    value = layers.Embedding(
        len(vocabulary.letters),
        settings.embedding,
        mask_zero=True,
        name="letter_embedding",
    )(letters)
    states = []
    for index in range(settings.layers):
        lstm = layers.LSTM(
            settings.units,
            return_sequences=True,
            return_state=True,
            dropout=settings.dropout if index else 0.0,
        )
        value, _, _, *backward = layers.Bidirectional(
            lstm, merge_mode="sum", name=f"encoder_{index}"
        )(value)
        states.append(backward)  # Has read the word back to its first letter.
    return value, states


def _decode(given, states, settings: Settings, vocabulary: Vocabulary):
    """-> states of the phonemes (B, T, units)."""
    queries = layers.Embedding(
        len(vocabulary.phonemes),
        settings.embedding,
        mask_zero=True,
        name="phoneme_embedding",
    )(given)
    for index, initial_state in enumerate(states):
        queries, *_ = layers.LSTM(
            settings.units,
            return_sequences=True,
            return_state=True,
            dropout=settings.dropout if index else 0.0,
            name=f"decoder_{index}",
        )(queries, initial_state=initial_state)
    return queries


def _named(layer: keras.Layer, name: str) -> keras.Layer:
    """The same layer under another name, whatever its constructor."""
    return type(layer).from_config({**layer.get_config(), "name": name})


@dataclasses.dataclass(frozen=True)
class StepByStep:
    """The layers of a training model as two models for decoding.

    encoder: letters (B, S)
        -> [value (B, S, units), value_mask (B, S), states...]
    step: [token (B, 1), position (B, 1), value, value_mask (B, S), states...]
        -> [logits (B, phonemes), weights (B, S), position + 1, states...]
    """

    encoder: keras.Model
    step: keras.Model


def step_by_step(trained: keras.Model) -> StepByStep:
    decoders = [
        layer for layer in trained.layers if layer.name.startswith("decoder_")
    ]
    encoders = [
        layer for layer in trained.layers if layer.name.startswith("encoder_")
    ]
    return StepByStep(_encoder(trained, encoders), _step(trained, decoders))


def _encoder(trained: keras.Model, encoders: list) -> keras.Model:
    letters = keras.Input((None,), dtype="int32", name="letters")
    value = trained.get_layer("letter_embedding")(letters)
    states = []
    for encoder in encoders:
        value, _, _, *backward = encoder(value)
        states += backward
    value_mask = ops.not_equal(letters, PADDING)
    # An operation's result carries no Keras mask: the step takes its own.
    value = ops.where(ops.expand_dims(value_mask, -1), value, 0.0)
    return keras.Model(letters, [value, value_mask, *states], name="encoder")


def _step(trained: keras.Model, decoders: list) -> keras.Model:
    units = decoders[0].units
    token = keras.Input((1,), dtype="int32", name="token")
    position = keras.Input((1,), dtype="int32", name="position")
    value = keras.Input((None, units), name="value")
    value_mask = keras.Input((None,), dtype="bool", name="value_mask")
    before = [keras.Input((units,)) for _ in range(2 * len(decoders))]
    query, after = trained.get_layer("phoneme_embedding")(token), []
    for decoder, *state in zip(
        decoders, before[::2], before[1::2], strict=True
    ):
        query, *state = decoder(query, initial_state=state)
        after += state
    context, weights = _attend(
        trained.get_layer("attention"), query, value, value_mask, position
    )
    logits = trained.get_layer("both")([context, query])
    for name in ("attentional", "logits"):
        logits = trained.get_layer(name)(logits)
    return keras.Model(
        [token, position, value, value_mask, *before],
        [ops.squeeze(logits, 1), weights, position + 1, *after],
        name="step",
    )


def _attend(attention: keras.Layer, query, value, value_mask, position):
    """-> context (B, 1, units), weights (B, S): the heads' mean if several."""
    asked = {"value_mask": value_mask, "return_attention_scores": True}
    if isinstance(attention, ka.LocalMonotonicAttention):
        asked["positions"] = position
    context, weights = attention(query, value, **asked)
    if len(weights.shape) == 4:
        weights = ops.mean(weights, axis=1)
    return context, ops.squeeze(weights, 1)
