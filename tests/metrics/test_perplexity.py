import keras
import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, batch

LOGITS = batch([[1, 2, 0, -1, 0.5, 0], [0, 0, 3, 0, 0, 1]])


@pytest.mark.parametrize(
    "step, target, right", [(0, 1, 1.911467), (1, 2, 1.334484)]
)
def test_worked_values(step, target, right):
    found = ka.Perplexity()([[target]], LOGITS[:, step : step + 1])
    assert_worked(found, right)


def test_of_batches_is_no_mean_of_perplexities():
    perplexity = ka.Perplexity(ignore_class=0)
    perplexity.update_state([[1]], LOGITS[:, :1])
    perplexity.update_state([[2, 0]], LOGITS[:, [1, 0]])
    right = np.exp((0.647871 + 0.288544) / 2)
    assert_worked(perplexity.result(), right)
    assert right < (1.911467 + 1.334484) / 2


def test_a_token_counts_the_same_in_every_batch():
    perplexity = ka.Perplexity()
    perplexity.update_state([[1]], LOGITS[:, :1])
    perplexity.update_state([[2, 2, 2]], LOGITS[:, [1, 1, 1]])
    right = np.exp((0.647871 + 3 * 0.288544) / 4)
    assert_worked(perplexity.result(), right)


def test_of_nothing_known_is_the_number_of_classes():
    assert_worked(ka.Perplexity()([[1, 2, 3]], np.zeros((1, 3, 50))), 50)


def test_is_the_exponential_of_the_loss():
    targets = np.array([[1, 2]])
    loss = ka.TokenCrossentropy()(targets, LOGITS)
    assert_worked(ka.Perplexity()(targets, LOGITS), np.exp(float(loss)))


def test_in_an_epoch_of_several_lengths():
    """The mean of all tokens in the epoch, by the embedding's mask."""
    words = np.array([[1, 2, 3, 4], [4, 0, 0, 0], [5, 3, 0, 0]])
    targets = np.array([[3, 1, 2, 5], [1, 3, 3, 3], [2, 2, 4, 4]])
    ids = keras.Input((None,), dtype="int32")
    model = keras.Model(ids, keras.layers.Embedding(6, 6, mask_zero=True)(ids))
    model.compile(metrics=[ka.Perplexity()], loss=ka.TokenCrossentropy())
    found = model.evaluate(
        words, targets, batch_size=1, verbose=0, return_dict=True
    )
    loss = ka.TokenCrossentropy(ignore_class=0)
    logits = model.predict(words, verbose=0)
    mean = loss(np.where(words > 0, targets, 0), logits)
    assert_worked(found["perplexity"], np.exp(float(mean)))
