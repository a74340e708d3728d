"""The least of multi-head attention is its products and exponentials."""

import keras
import numpy as np
import pytest

from benchmarks import matrix_products
from benchmarks.cases import Case

CASE = Case(batch=2, steps=6, dim=8, heads=2, way="fit")


def expected(x, W_Q, W_K, W_V, W_O):
    def heads(W):
        return (x @ W).reshape(2, 6, 2, 4).swapaxes(1, 2)

    weights = np.exp(heads(W_Q) @ heads(W_K).swapaxes(2, 3))
    context = (weights @ heads(W_V)).swapaxes(1, 2)
    return context.reshape(2, 6, 8) @ W_O


@pytest.mark.parametrize("form", ["_kept", "_in_two_passes"])
def test_each_form_has_the_output(form):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 6, 8)).astype("float32")
    weights = list(rng.normal(size=(4, 8, 8)).astype("float32") / 9)
    tensors = [keras.ops.convert_to_tensor(x)]
    given = [keras.ops.convert_to_tensor(W) for W in weights]
    output = getattr(matrix_products, form)(CASE, tensors, given)
    np.testing.assert_allclose(output, expected(x, *weights), atol=1e-6)


@pytest.mark.parametrize(("steps", "form"), [(128, "_kept"), (512, "_in_two_")])
def test_exponentials_are_kept_where_all_fit(steps, form, monkeypatch):
    called = []
    for name in ("_kept", "_in_two_passes"):
        original = getattr(matrix_products, name)

        def spy(*given, name=name, original=original):
            called.append(name)
            return original(*given)

        monkeypatch.setattr(matrix_products, name, spy)
    case = Case(batch=2, steps=steps, dim=8, heads=4, way="predict")
    matrix_products.multi_head_least(case)
    assert called and all(name.startswith(form) for name in called)
