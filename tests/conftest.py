import keras
import pytest


@pytest.fixture(autouse=True)
def reproducible():
    keras.utils.set_random_seed(0)
    keras.config.set_dtype_policy("float32")
    yield
    keras.config.set_dtype_policy("float32")
