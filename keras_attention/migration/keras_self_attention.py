"""Weights of keras-self-attention's layers, out of a file of Keras 2 or 3.

    arrays = keras_self_attention.read("model.h5")
    keras_self_attention.load_attention(
        attention, arrays, layer="seq_self_attention"
    )

keras-self-attention is not needed. What loads is what has the same function
here, asked as `attention(x, x)`:

- `SeqSelfAttention`, in any layer with an `AdditiveScore`, or with a
  `BilinearScore` if it is multiplicative. Its `ba`, one number added to every
  score, changes no softmax and is left out.
- With `attention_activation`, the score is an `ActivatedScore`, which has the
  `ba`. A file of weights has no activations, so that is not checked.
- `SeqWeightedAttention`, as `FeedForwardAttention(activation=None)`.
"""

import keras
import numpy as np

from keras_attention.migration.activated_score import ActivatedScore
from keras_attention.migration.hdf5 import read
from keras_attention.migration.weights import (
    Arrays,
    Given,
    assign,
    of_additive,
)
from keras_attention.pooling.feed_forward import FeedForwardAttention
from keras_attention.scores.additive import AdditiveScore
from keras_attention.scores.bilinear import BilinearScore
from keras_attention.stages import Score
from keras_attention.stepwise import ScoringAttention

__all__ = ["ActivatedScore", "load_attention", "load_pooling", "read"]


def load_attention(
    attention: ScoringAttention, arrays: Arrays, layer: str
) -> None:
    """Sets the weights of an attention to a SeqSelfAttention's.

    Args:
        attention: One that is built.
        arrays: From `read`.
        layer: What the names of their layer's weights begin with.

    Raises:
        ValueError: The score is of another kind, a weight is missing, one too
            many, or of another shape.
    """
    found = Given(arrays, layer).take_all(1, 5)
    score: Score = attention.score
    if isinstance(score, ActivatedScore):
        assign(score.score, _of_score(score.score, found))
        has_ba = found[-1].ndim == 1
        assign(score, {"b": found[-1] if has_ba else np.zeros(1)})
    else:
        assign(score, _of_score(score, found))


def load_pooling(
    pooling: FeedForwardAttention, arrays: Arrays, layer: str
) -> None:
    """Sets the weight of a layer to a SeqWeightedAttention's.

    Args:
        pooling: One that is built, with `activation=None`.
        arrays: From `read`.
        layer: What the names of their layer's weights begin with.

    Raises:
        ValueError: The layer has an activation, or as `load_attention`.
    """
    if pooling.activation is not keras.activations.linear:
        raise ValueError(
            "SeqWeightedAttention has no activation: `activation` must be "
            f"None. Received: activation={pooling.activation!r}"
        )
    W, *_b = Given(arrays, layer).take_all(1, 2)
    assign(pooling, {"w": W})


def _of_score(score: Score, found: list[np.ndarray]) -> Arrays:
    """`Wt, Wx, bh, Wa, ba` of an additive score, `Wa, ba` of the other.

    Either may lack a bias. The kernels are matrices, the biases are not.
    """
    kernels = [x for x in found if x.ndim == 2]
    if isinstance(score, BilinearScore) and len(kernels) == 1:
        return {"W": kernels[0]}
    if isinstance(score, AdditiveScore) and len(kernels) == 3:
        Wt, Wx, Wa = kernels
        bh = found[2] if found[2].ndim == 1 else None
        return of_additive(score, Wt, Wx, Wa, bh)
    raise ValueError(
        "SeqSelfAttention has the score of an AdditiveScore with three "
        "kernels, or of a BilinearScore with one. "
        f"Received: score={score!r} for weights of the shapes "
        f"{[x.shape for x in found]}"
    )
