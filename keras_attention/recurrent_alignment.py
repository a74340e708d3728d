"""Attention whose scores are anybody's, and whose alignment remembers."""

from keras import ops

from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.recurrent_attention import RecurrentAttention


class RecurrentAlignment(RecurrentAttention):
    """Abstract: aligns the scores of one query after the other.

        scores_i         = compare(query_i, keys)
        found_i, state_i = weigh(scores_i, state_{i-1})
        weights_i        = aligned(found_i)

    No score depends on the state: all are made at once, in blocks of queries.
    """

    def known(self, rows: Tensors, memory: Tensors) -> Tensors:
        """The rows with `scores`, `(batch, Tq, Tv)`."""

        def scores(rows: Tensors, memory: Tensors) -> tuple[Tensor]:
            return (self.scores(rows, memory),)

        widths = (ops.shape(memory["value"])[-2],)
        (found,) = self.in_blocks(scores, rows, memory, widths)
        return {**rows, "scores": found}


def log_of_sum(a: Tensor, b: Tensor) -> Tensor:
    """`log(e^a + e^b)`, neither of them infinite.

    With half of the gradient for each where both are the same, of which
    Keras's `logaddexp` gives `a` all.
    """
    largest = ops.stop_gradient(ops.maximum(a, b))
    return largest + ops.log(ops.exp(a - largest) + ops.exp(b - largest))
