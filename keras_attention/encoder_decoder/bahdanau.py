"""Bahdanau attention (Bahdanau et al., 2015)."""

from typing import Any

from keras_attention import arguments
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.attention_layer import AttentionLayer
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.scores.additive import AdditiveScore
from keras_attention.scores.normalized_additive import NormalizedAdditiveScore
from keras_attention.serialization import export


@export
class BahdanauAttention(AttentionLayer):
    """Attention of the first neural translator that learned to align.

        e_ij = v . tanh(W s_i + U h_j)      score
        a_ij = softmax_j(e_ij)              alignment
        c_i  = sum_j a_ij h_j               read

    In the paper the query `s_i` is the decoder's state before the step.

    Args:
        units: Size of the hidden layer of the score, `n'` in the paper. None
            takes the size of the queries.
        normalize: Whether the score is g v / |v| . tanh(W s_i + U h_j + b),
            as in `NormalizedAdditiveScore`.
        **kwargs: `AttentionLayer` arguments: `dropout`, `seed`,
            `query_block_size`, `jit_compile`, `name`, ...

    Call arguments and Returns: as `AttentionLayer`.

    Example:
        >>> attend = BahdanauAttention(units=32)
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), A.1.2.
    """

    def __init__(
        self, units: int | None = None, normalize: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.units = arguments.optional_integer("units", units)
        self.normalize = arguments.boolean("normalize", normalize)
        score = NormalizedAdditiveScore if normalize else AdditiveScore
        self.score = score(self.units, dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)
        self.read = WeightedSumRead(dtype=self.dtype_policy)
