"""Cells of the worked examples, written as anyone writes a Keras cell."""

import keras
import numpy as np
from keras import ops

from tests.worked import det


@keras.saving.register_keras_serializable("tests")
class TanhCell(keras.Layer):
    """`h = tanh(Wx x + Wh h)`: the arithmetic stays visible."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units

    def build(self, input_shape):
        self.Wx = self.add_weight((input_shape[-1], self.units), name="Wx")
        self.Wh = self.add_weight((self.units, self.units), name="Wh")

    def call(self, inputs, states):
        h = ops.tanh(
            ops.matmul(inputs, self.Wx) + ops.matmul(states[0], self.Wh)
        )
        return h, [h]

    def get_initial_state(self, batch_size=None):
        return [ops.zeros((batch_size, self.units))]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.saving.register_keras_serializable("tests")
class BahdanauGRUCell(TanhCell):
    """The paper's: reset before the matrix product, z times the new state."""

    def build(self, input_shape):
        n, size = self.units, input_shape[-1]
        self.W = self.add_weight((3, size, n), name="W")
        self.U = self.add_weight((3, n, n), name="U")

    def call(self, inputs, states):
        s = states[0]
        x = ops.einsum("bi,gin->gbn", inputs, self.W)
        z = ops.sigmoid(x[1] + ops.matmul(s, self.U[1]))
        r = ops.sigmoid(x[2] + ops.matmul(s, self.U[2]))
        new = ops.tanh(x[0] + ops.matmul(r * s, self.U[0]))
        s = (1.0 - z) * s + z * new
        return s, [s]


def bahdanau_weights():
    """`W` over `[y; c]` and `U` of the worked step: new, update, reset."""
    n, embedding, annotation = 3, 2, 4
    W = [
        np.concatenate(
            [det((n, embedding), a), det((n, annotation), c)], axis=1
        ).T
        for a, c in ((0.11, 0.33), (0.44, 0.66), (0.77, 0.99))
    ]
    U = [det((n, n), phase).T for phase in (0.22, 0.55, 0.88)]
    return np.stack(W), np.stack(U)
