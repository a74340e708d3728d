import keras
import numpy as np
import pytest
from keras import ops

import keras_attention as ka


def guessed(ids):
    return np.eye(6, dtype="float32")[np.asarray(ids)]


def test_share_of_real_tokens():
    accuracy = ka.TokenAccuracy(ignore_class=0)
    found = accuracy([[2, 1, 0, 0], [3, 5, 4, 0]], guessed([[2, 2, 0, 1]] * 2))
    assert float(found) == pytest.approx(1 / 5)


def test_a_token_counts_the_same_in_every_batch():
    """Sentences of 4 and of 2 steps: 4 of 6, not the mean of 1 and 0."""
    accuracy = ka.TokenAccuracy()
    accuracy.update_state([[1, 2, 3, 4]], guessed([[1, 2, 3, 4]]))
    accuracy.update_state([[1, 2]], guessed([[2, 1]]))
    assert float(accuracy.result()) == pytest.approx(4 / 6)


def test_reset():
    accuracy = ka.TokenAccuracy()
    accuracy.update_state([[1]], guessed([[1]]))
    accuracy.reset_state()
    assert float(accuracy.result()) == 0
    accuracy.update_state([[1, 1]], guessed([[1, 2]]))
    assert float(accuracy.result()) == 0.5


def test_equals_keras_without_padding():
    random = np.random.default_rng(0)
    y_true, y_pred = (
        random.integers(0, 6, (4, 5)),
        random.normal(size=(4, 5, 6)),
    )
    keras_own = keras.metrics.SparseCategoricalAccuracy()
    found, right = ka.TokenAccuracy()(y_true, y_pred), keras_own(y_true, y_pred)
    assert float(found) == pytest.approx(float(right))


def test_in_fit_by_the_mask_of_the_embedding():
    """As `metrics`, which Keras gives no sample weights."""
    words = np.array([[1, 2, 3, 0], [4, 0, 0, 0], [5, 5, 0, 0]])
    identity = keras.initializers.Constant(np.eye(6))
    embed = keras.layers.Embedding(
        6, 6, mask_zero=True, embeddings_initializer=identity
    )
    ids = keras.Input((None,), dtype="int32")
    model = keras.Model(ids, embed(ids))
    model.compile("sgd", ka.TokenCrossentropy(), metrics=[ka.TokenAccuracy()])
    targets = np.where(words == 5, 1, words)
    history = model.fit(
        words, targets, epochs=2, batch_size=1, shuffle=False, verbose=0
    )
    found = history.history["token_accuracy"]
    assert found[0] == pytest.approx(4 / 6)


def test_probabilities_will_do():
    probabilities = ops.softmax(guessed([[1, 2]]))
    assert float(ka.TokenAccuracy()([[1, 1]], probabilities)) == 0.5
