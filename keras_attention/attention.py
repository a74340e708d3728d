"""Any score, any alignment, any read."""

from typing import Any

from keras_attention import stages
from keras_attention.attention_layer import AttentionLayer
from keras_attention.serialization import export
from keras_attention.stages import Alignment, Read, Score


@export
class Attention(AttentionLayer):
    """Attention built from the stages you choose.

        e_ij = score(q_i, k_j)
        a_ij = alignment(e_i)_j
        c_i  = read(a_i, v)

    Args:
        score: A `Score` or its name: `"dot"`, `"scaled_dot"`, `"bilinear"`
            or `"general"`, `"additive"` or `"concat"`,
            `"normalized_additive"`, `"cosine"`, `"location"`.
        alignment: An `Alignment` or its name: `"softmax"`, `"sparsemax"`,
            `"sigmoid"`.
        read: A `Read` or its name: `"weighted_sum"`.
        **kwargs: `AttentionLayer` arguments: `dropout`, `seed`,
            `query_block_size`, `jit_compile`, `name`, ...

    Call arguments and Returns: as `AttentionLayer`.

    Example:
        >>> attend = Attention(AdditiveScore(32), "sparsemax")
        >>> context = attend(decoder_states, encoder_states)
    """

    def __init__(
        self,
        score: Score | str = "scaled_dot",
        alignment: Alignment | str = "softmax",
        read: Read | str = "weighted_sum",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        dtype = self.dtype_policy
        self.score = stages.get(Score, score, dtype=dtype)
        self.alignment = stages.get(Alignment, alignment, dtype=dtype)
        self.read = stages.get(Read, read, dtype=dtype)
