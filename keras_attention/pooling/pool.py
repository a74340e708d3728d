"""How a layer that scores a sequence by itself pools it."""

from keras_attention import masks, products
from keras_attention.base_layer import Tensor
from keras_attention.stages import Alignment, divided


def pool(
    scores: Tensor, inputs: Tensor, mask: Tensor | None, alignment: Alignment
) -> tuple[Tensor, Tensor]:
    """The visible steps, each by its weight.

    Args:
        scores: `(..., hops, T)`.
        inputs: `(..., T, dim)`, hidden steps 0.
        mask: `(..., T)`, True where visible.
        alignment: Turns scores into weights.

    Returns:
        `(..., hops, dim)` and the weights, `(..., hops, T)`.
    """
    portions, total = alignment.spread(scores, masks.of_keys(mask))
    sums = products.of_weights(portions, inputs)
    dtype = alignment.compute_dtype
    return divided(sums, total, dtype), divided(portions, total, dtype)
