import numpy as np
import pytest
from keras import ops
from numpy.testing import assert_array_equal

from keras_attention.decoding.largest import BLOCK, largest


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n", [4, BLOCK, 5 * BLOCK, 9 * BLOCK + 7])
def test_as_a_stable_sort_finds_them(n, k):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(50, n)).astype("float32")
    few = rng.integers(0, 3, (50, n)).astype("float32")  # Mostly equal.
    x = np.concatenate([x, few, np.zeros((1, n), "float32")])
    found, place = map(ops.convert_to_numpy, largest(x, k))
    expected = np.argsort(-x, axis=-1, kind="stable")[:, :k]
    assert_array_equal(place, expected)
    assert_array_equal(found, np.take_along_axis(x, expected, axis=-1))
    assert place.dtype == "int32"


def test_the_most_negative_number_is_no_padding():
    x = np.full((1, 5 * BLOCK + 1), -3e38, "float32")
    x[0, -1] = -2e38
    assert_array_equal(largest(x, 3)[1], [[x.shape[1] - 1, 0, 1]])
