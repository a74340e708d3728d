"""The sizes of queries and keys."""

import keras

from keras_attention.base_layer import Shape


def check_equal(
    score: keras.Layer, query_shape: Shape, key_shape: Shape
) -> None:
    """Refuses sizes that have no inner product."""
    if query_shape[-1] != key_shape[-1]:
        raise ValueError(
            f"`{type(score).__name__}` needs queries and keys of one size; "
            "`BilinearScore` and `AdditiveScore` take any. Received: "
            f"query_dim={query_shape[-1]}, key_dim={key_shape[-1]}"
        )
