"""Weights of layers that were copied from notebooks, out of a file of Keras.

    arrays = kaggle.read("model.h5")
    kaggle.load_pooling(pooling, arrays, layer="attention")

They have no package, and go by these names, among others:

- `Attention(step_dim)`, and `attention` with the weights `att_weight` and
  `att_bias`: e_t = tanh(w . h_t + b_t), which is
  `FeedForwardAttention(step_bias=True)`.
- `AttentionWeightedAverage`, of DeepMoji: e_t = w . h_t, which is
  `FeedForwardAttention(activation=None)`.
- `AttentionWithContext`, and `AttLayer`, of hierarchical attention:
  e_t = u . tanh(W h_t + b), which is the score of an `AdditiveScore` whose
  query counts for nothing: `attention(x[:, :1], x)[:, 0]`.

A file of weights has no activations, so they are not checked.
"""

import numpy as np

from keras_attention.migration.hdf5 import read
from keras_attention.migration.weights import (
    Arrays,
    Given,
    assign,
    check_built,
    of_additive,
)
from keras_attention.pooling.feed_forward import FeedForwardAttention
from keras_attention.scores.additive import AdditiveScore
from keras_attention.stages import Score
from keras_attention.stepwise import ScoringAttention

__all__ = ["load_attention", "load_pooling", "read"]


def load_pooling(
    pooling: FeedForwardAttention, arrays: Arrays, layer: str
) -> None:
    """Sets the weights of a layer to `W` and `b`; a `b` that is missing is 0.

    Args:
        pooling: One that is built.
        arrays: From `read`.
        layer: What the names of their layer's weights begin with.

    Raises:
        ValueError: A weight is missing, one too many, or of another shape.
    """
    check_built(pooling)
    W, *b = Given(arrays, layer).take_all(1, 2)
    weights: Arrays = {"w": W.reshape(-1, 1)}
    if b:
        weights["b"] = b[0].reshape(-1)
    elif pooling.b is not None:
        weights["b"] = np.zeros(pooling.b.shape)
    assign(pooling, weights)


def load_attention(
    attention: ScoringAttention, arrays: Arrays, layer: str
) -> None:
    """Sets the weights of an attention to `W`, `b` and `u`, or `W` and `u`.

    Args:
        attention: One that is built, with an `AdditiveScore`, whose `W`
            becomes 0: the score does not depend on the query.
        arrays: From `read`.
        layer: What the names of their layer's weights begin with.

    Raises:
        ValueError: The score is of another kind, a weight is missing, one too
            many, or of another shape.
    """
    score: Score = attention.score
    if not isinstance(score, AdditiveScore):
        raise ValueError(
            "Attention with a context vector has the score of an "
            f"AdditiveScore. Received: score={score!r}"
        )
    check_built(score)
    W, *b, u = Given(arrays, layer).take_all(2, 3)
    of_query = np.zeros((score.W.shape[0], len(u)))
    assign(score, of_additive(score, of_query, W, u, *b))
