"""MultiHeadAttention beside PyTorch's fused kernel.

`torch.nn.functional.scaled_dot_product_attention` between the same four
projections; the limit is the matrix products alone. `own_gradient` is ours with
the gradients of the products left to XLA. Forward: ours as one
`tf.function(jit_compile=True)`, PyTorch's under `inference_mode`. Gradient: of
all weights and of the inputs.
"""

import functools
from typing import Any

import numpy as np
import torch

from benchmarks import matrix_products, ways
from benchmarks.cases import Case
from benchmarks.sides import Side, arrays
from benchmarks.suites import layers
from keras_attention import products

MEMORY = ("ours", "torch")
REST = 0.02


def cases(quick: bool) -> list[Case]:
    """Three lengths, forward and gradient."""
    size = {"batch": 2, "dim": 256, "heads": 4}
    lengths = (512, 2048, 8192)
    if quick:
        size, lengths = {"batch": 1, "dim": 8, "heads": 2}, (16,)
    return [
        Case(**size, steps=steps, way=way)
        for steps in lengths
        for way in ("jit", "gradient")
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, PyTorch's, and the limit."""
    model = layers.multi_head(case)["ours"]
    training = case.way == "gradient"
    compared = {
        "ours": ways.side(model, case.way, case.batch),
        "torch": _torch(model, case, training),
        "limit": matrix_products.multi_head(case),
    }
    if training:
        compared["own_gradient"] = _own_gradient(model, case)
    return compared


def _own_gradient(model: Any, case: Case) -> Side:
    side = ways.side(model, case.way, case.batch)
    return ways.traced_with(side, products, "LARGE", float("inf"))


class FusedAttention(torch.nn.Module):
    """Multi-head self-attention with the weights of a Keras layer."""

    def __init__(self, weights: list[np.ndarray], heads: int) -> None:
        super().__init__()
        self.heads = heads
        dim = weights[-1].size
        self.Q, self.K, self.V, self.O = (
            _linear(W.reshape(dim, dim), b.reshape(dim))
            for W, b in zip(weights[::2], weights[1::2], strict=True)
        )

    def forward(self, x: Any) -> Any:
        """`(batch, T, dim)` to the same."""
        q, k, v = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for project in (self.Q, self.K, self.V)
        )
        context = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return self.O(context.transpose(1, 2).flatten(2))


def _linear(W: np.ndarray, b: np.ndarray) -> torch.nn.Linear:
    linear = torch.nn.Linear(*W.shape)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(W.T))
        linear.bias.copy_(torch.from_numpy(b))
    return linear


def _torch(model: Any, case: Case, training: bool) -> Side:
    attend = FusedAttention(model.get_weights(), case.heads)
    x = torch.tensor(ways.inputs_of(model, case.batch)[0].numpy())
    if training:
        return _gradient(attend, x)
    return Side(functools.partial(_inference, attend, x), arrays)


def _inference(attend: FusedAttention, x: Any) -> Any:
    with torch.inference_mode():
        return attend(x)


def _gradient(attend: FusedAttention, x: Any) -> Side:
    pull = torch.tensor(ways.like(x).numpy())
    x.requires_grad_()
    parameters = list(attend.parameters())  # Q, K, V, O: weight and bias.

    def outputs_and_gradients() -> list[Any]:
        output = attend(x)
        gradients = torch.autograd.grad(output, [x, *parameters], pull)
        return [output.detach(), *gradients]

    def results(tensors: list[Any]) -> list[np.ndarray]:
        return arrays([t.T if t.ndim == 2 else t for t in tensors])

    return Side(outputs_and_gradients, results)
