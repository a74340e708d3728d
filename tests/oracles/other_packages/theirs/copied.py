"""Layers that have no package: their equations, weights and masks.

Written anew after what is found in many notebooks and repositories; the names,
shapes and order of the weights are theirs.
"""

from tensorflow.keras import backend as K
from tensorflow.keras.layers import Layer


class Copied(Layer):
    """One vector out of a sequence; the mask ends here."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(self, inputs, mask=None):
        """None."""
        return None

    def compute_output_shape(self, input_shape):
        """`(batch, dim)`."""
        return input_shape[0], input_shape[-1]


class Attention(Copied):
    """Kaggle's: tanh(w . h_t + b_t), masked behind the exponential."""

    def __init__(self, step_dim, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.step_dim = step_dim
        self.bias = bias

    def build(self, input_shape):
        """`W (dim,)` and `b (steps,)`."""
        self.W = self.add_weight(
            shape=(input_shape[-1],),
            initializer="glorot_uniform",
            name=f"{self.name}_W",
        )
        self.b = None
        if self.bias:
            self.b = self.add_weight(
                shape=(input_shape[1],),
                initializer="zeros",
                name=f"{self.name}_b",
            )
        self.built = True

    def call(self, x, mask=None):
        """The weighted sum."""
        dim = x.shape[-1]
        e = K.dot(K.reshape(x, (-1, dim)), K.reshape(self.W, (dim, 1)))
        e = K.reshape(e, (-1, self.step_dim))
        if self.bias:
            e += self.b
        return _read(K.exp(K.tanh(e)), x, mask)

    def get_config(self):
        """Both arguments."""
        own = {"step_dim": self.step_dim, "bias": self.bias}
        return {**super().get_config(), **own}


class Column(Layer):
    """The same with columns as weights, and no mask."""

    def build(self, input_shape):
        """`att_weight (dim, 1)` and `att_bias (steps, 1)`."""
        self.W = self.add_weight(
            name="att_weight",
            shape=(input_shape[-1], 1),
            initializer="random_normal",
        )
        self.b = self.add_weight(
            name="att_bias", shape=(input_shape[1], 1), initializer="zeros"
        )
        super().build(input_shape)

    def call(self, x):
        """The weighted sum."""
        e = K.squeeze(K.tanh(K.dot(x, self.W) + self.b), axis=-1)
        return K.sum(x * K.expand_dims(K.softmax(e), axis=-1), axis=1)

    def compute_output_shape(self, input_shape):
        """`(batch, dim)`."""
        return input_shape[0], input_shape[-1]


class AttentionWeightedAverage(Copied):
    """DeepMoji's: w . h_t, masked behind the exponential."""

    def build(self, input_shape):
        """`W (dim, 1)`."""
        self.W = self.add_weight(
            shape=(input_shape[2], 1),
            name=f"{self.name}_W",
            initializer="random_uniform",
        )
        super().build(input_shape)

    def call(self, x, mask=None):
        """The weighted sum."""
        e = K.squeeze(K.dot(x, self.W), axis=-1)
        a = K.exp(e - K.max(e, axis=-1, keepdims=True))
        return _read(a, x, mask)


class AttentionWithContext(Copied):
    """Of hierarchical attention: u . tanh(W h_t + b)."""

    def __init__(self, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.bias = bias

    def build(self, input_shape):
        """`W (dim, dim)`, `b (dim,)` and `u (dim,)`."""
        dim = input_shape[-1]
        self.W = self.add_weight(
            shape=(dim, dim),
            initializer="glorot_uniform",
            name=f"{self.name}_W",
        )
        if self.bias:
            self.b = self.add_weight(
                shape=(dim,), initializer="zeros", name=f"{self.name}_b"
            )
        self.u = self.add_weight(
            shape=(dim,),
            initializer="random_normal",
            name=f"{self.name}_u",
        )
        super().build(input_shape)

    def call(self, x, mask=None):
        """The weighted sum."""
        hidden = K.dot(x, self.W)
        if self.bias:
            hidden += self.b
        e = K.dot(K.tanh(hidden), K.expand_dims(self.u))
        return _read(K.exp(K.squeeze(e, axis=-1)), x, mask)

    def get_config(self):
        """The argument."""
        return {**super().get_config(), "bias": self.bias}


def _read(a, x, mask):
    if mask is not None:
        a *= K.cast(mask, K.floatx())
    a /= K.cast(K.sum(a, axis=1, keepdims=True) + K.epsilon(), K.floatx())
    return K.sum(x * K.expand_dims(a), axis=1)
