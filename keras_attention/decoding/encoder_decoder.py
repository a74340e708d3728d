"""An encoder and a decoder as one model that trains, generates and exports."""

from typing import Any

import keras
from keras import ops

from keras_attention import arguments
from keras_attention.base_layer import Tensor
from keras_attention.decoding.attention_decoder import AttentionDecoder
from keras_attention.decoding.search import Generated
from keras_attention.serialization import Serializable, export_part


@export_part
class EncoderDecoder(Serializable, keras.Model):
    """From a sequence of tokens to another.

        memory, states = encoder(source)
        logits         = decoder(targets, memory, initial_state=states)

    Args:
        encoder: A model or layer that maps tokens `(batch, S)` to a memory
            `(batch, S, dim)`, or to a list of it and the decoder's first
            states.
        decoder: An `AttentionDecoder`.
        start_id: The token before the first.
        end_id: The token that ends a sequence.
        max_length: How many tokens are generated at most, the end among them.
        padding_id: The token of the source that is hidden from the decoder.
        **kwargs: `keras.Model` arguments, such as `name`.

    Call arguments:
        inputs: `[source, targets]`, integers `(batch, S)` and `(batch, T)`;
            the targets as the decoder is given them, first `start_id`.
        training: Whether to drop and to sample.

    Returns:
        Logits, `(batch, T, tokens)`.

    Example:
        >>> tokens, states = keras.Input((None,), dtype="int32"), 8
        >>> x = keras.layers.Embedding(20, 4, mask_zero=True)(tokens)
        >>> encoder = keras.Model(
        ...     tokens, keras.layers.GRU(8, return_sequences=True)(x)
        ... )
        >>> decoder = AttentionDecoder(
        ...     AttentionCell(keras.layers.GRUCell(8), BahdanauAttention(8)),
        ...     keras.layers.Embedding(20, 4, mask_zero=True),
        ...     keras.layers.Dense(20),
        ... )
        >>> model = EncoderDecoder(encoder, decoder, 1, 2, max_length=7)
        >>> source = ops.ones((3, 5), "int32")
        >>> model([source, ops.ones((3, 4), "int32")]).shape
        TensorShape([3, 4, 20])
        >>> model.generate(source, strategy="beam", width=2).tokens.shape
        TensorShape([3, 7])

    Reference:
        [Sutskever et al., 2014](https://arxiv.org/abs/1409.3215);
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473).
    """

    def __init__(
        self,
        encoder: keras.Layer,
        decoder: AttentionDecoder,
        start_id: int,
        end_id: int,
        max_length: int,
        *,
        padding_id: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.start_id = arguments.integer("start_id", start_id, at_least=0)
        self.end_id = arguments.integer("end_id", end_id, at_least=0)
        self.max_length = arguments.integer("max_length", max_length)
        self.padding_id = arguments.integer(
            "padding_id", padding_id, at_least=0
        )

    def call(
        self, inputs: list[Tensor], training: bool | None = None
    ) -> Tensor:
        """Teacher-forced logits: see the class."""
        source, targets = inputs
        memory, mask, states = self._encoded(source, training)
        return self.decoder(
            targets,
            memory,
            memory_mask=mask,
            initial_state=states,
            training=training,
        )

    def generate(self, source: Tensor, **options: Any) -> Generated:
        """Tokens for a source.

        Args:
            source: Integers `(batch, S)`.
            **options: As of `AttentionDecoder.generate`; `max_length` may be
                another here.

        Returns:
            `Generated`.
        """
        source = ops.convert_to_tensor(source, "int32")
        memory, mask, states = self._encoded(source, False)
        given = {
            "max_length": self.max_length,
            "start_id": self.start_id,
            "end_id": self.end_id,
            **options,
        }
        return self.decoder.generate(memory, mask, states, **given)

    def export(
        self,
        path: str,
        *,
        searches: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """Writes a SavedModel that scores and generates. TensorFlow only.

        Its signatures take any batch and any lengths: `serve` gives logits
        for `source` and `targets`; each search gives `tokens`, `lengths`,
        `log_probs`, `scores` and `alignments` for `source`.

        Args:
            path: The folder to write.
            searches: The options of `generate` under the names of the
                signatures. By default `greedy`, and `beam` with the default
                width.
        """
        if searches is None:
            searches = {name: {"strategy": name} for name in ("greedy", "beam")}
        archive = keras.export.ExportArchive()
        archive.track(self)
        source, targets = (
            keras.InputSpec(dtype="int32", shape=(None, None), name=name)
            for name in ("source", "targets")
        )
        archive.add_endpoint(
            "serve",
            lambda source, targets: self([source, targets], training=False),
            [source, targets],
        )
        for name, options in searches.items():
            archive.add_endpoint(name, self._search(options), [source])
        archive.write_out(path, verbose=False)

    def _search(self, options: dict[str, Any]) -> Any:
        return lambda source: self.generate(source, **options)._asdict()

    def _encoded(
        self, source: Tensor, training: bool | None
    ) -> tuple[Tensor, Tensor, list[Tensor] | None]:
        """Memory, its mask, and the first states of the decoder."""
        encoded = self.encoder(source, training=training)
        several = isinstance(encoded, (list, tuple))
        memory, *states = encoded if several else [encoded]
        return memory, source != self.padding_id, states or None
