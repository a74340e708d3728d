"""Luong's global attention (Luong et al., 2015)."""

from typing import Any

from keras_attention import stages
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.attention_layer import AttentionLayer
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.serialization import export
from keras_attention.stages import Score


@export
class LuongAttention(AttentionLayer):
    """Global attention of Luong et al., with their four scores.

        e_ij = h_i . s_j                 dot
               h_i . W s_j               general
               v . tanh(W h_i + U s_j)   concat
               (W h_i)_j                 location
        a_ij = softmax_j(e_ij)
        c_i  = sum_j a_ij s_j

    The query `h_i` is the decoder's new state, the values `s_j` are the
    encoder's. Here the score "general" always has its `W`, and "concat" keeps
    the encoder's part, which the authors' code leaves out.

    Args:
        score: `"dot"`, `"general"`, `"concat"`, `"location"`, any other
            score's name, or a `Score`.
        **kwargs: `AttentionLayer` arguments: `dropout`, `seed`,
            `query_block_size`, `jit_compile`, `name`, ...

    Call arguments and Returns: as `AttentionLayer`.

    Example:
        >>> attend = LuongAttention("general")
        >>> context = attend(decoder_states, encoder_states)

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), 3.1.
    """

    def __init__(self, score: Score | str = "general", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        self.score = stages.get(Score, score, dtype=dtype)
        self.alignment = SoftmaxAlignment(dtype=dtype)
        self.read = WeightedSumRead(dtype=dtype)
