"""How a layer that scores a sequence by itself pools it."""

from keras_attention import masks, products
from keras_attention.base_layer import Tensor
from keras_attention.stages import Alignment, divided


def pool(
    scores: Tensor, inputs: Tensor, mask: Tensor | None, alignment: Alignment
) -> tuple[Tensor, Tensor]:
    """The visible steps, each by its weight.

    Args:
        scores: `(..., hops, T)`; NaN for steps that are not finite.
        inputs: `(..., T, dim)`.
        mask: `(..., T)`, True where visible.
        alignment: Turns scores into weights.

    Returns:
        `(..., hops, dim)` and the weights, `(..., hops, T)`.
    """
    portions, total = alignment.spread(scores, masks.of_keys(mask))
    finite_inputs, _ = masks.finite(inputs)
    sums = products.of_weights(portions, finite_inputs)
    dtype = alignment.compute_dtype
    return divided(sums, total, dtype), divided(portions, total, dtype)
