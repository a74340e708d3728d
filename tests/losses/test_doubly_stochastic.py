import keras
import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, batch

ALPHAS = batch(
    [
        [0.53576, 0.236694, 0.114213, 0.113333],
        [0.113333, 0.114213, 0.236694, 0.53576],
        [0.449031, 0.477987, 0.024097, 0.048884],
    ]
)


def test_worked_values():
    found = ka.DoublyStochasticLoss()(np.ones((1, 3, 4)), ALPHAS)
    assert_worked(found, 0.520743)
    halved = ka.DoublyStochasticLoss(0.5)(np.ones((1, 3, 4)), ALPHAS)
    assert_worked(halved, 0.520743 / 2)


def test_every_source_position_once_costs_nothing():
    found = ka.DoublyStochasticLoss()(np.ones((1, 3, 3)), np.eye(3)[None])
    assert float(found) == 0


def test_padded_positions_do_not_count_and_padded_steps_give_nothing():
    visible = np.zeros((1, 3, 4))
    visible[:, :2, :3] = 1
    total = ALPHAS[0, :2, :3].sum(axis=0)
    found = ka.DoublyStochasticLoss()(visible, ALPHAS)
    assert_worked(found, np.sum((1 - total) ** 2))


def test_a_mask_of_the_source_broadcasts():
    weights = ALPHAS * [1, 1, 1, 0]
    source = np.array([[[1, 1, 1, 0]]])
    found = ka.DoublyStochasticLoss()(source, weights)
    whole = np.broadcast_to(source, (1, 3, 4))
    assert_worked(found, ka.DoublyStochasticLoss()(whole, weights))


def test_mean_is_over_examples_that_are_not_all_padding():
    alphas = np.concatenate([ALPHAS, ALPHAS])
    visible = np.ones((2, 3, 4)) * [[[1]], [[0]]]
    assert_worked(ka.DoublyStochasticLoss()(visible, alphas), 0.520743)


def test_heads_are_refused():
    expected = r"`y_true` and `y_pred` must be `\(batch, Tq, Tv\)`. Received"
    with pytest.raises(ValueError, match=expected):
        ka.DoublyStochasticLoss()(np.ones((1, 3, 4)), ALPHAS[None])


def test_factor_must_not_be_negative():
    with pytest.raises(ValueError, match="`factor` must be a finite number of"):
        ka.DoublyStochasticLoss(-1.0)


def test_is_the_loss_of_an_output_beside_another():
    words = np.array([[3, 4, 1, 0], [5, 2, 0, 0]])
    targets = np.array([[1, 2, 3, 0], [2, 1, 0, 0]])
    visible = (words > 0)[:, :, None] & (words > 0)[:, None, :]
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(6, 4, mask_zero=True)(ids)
    context, weights = ka.LuongAttention()(x, x, return_attention_scores=True)
    logits = keras.layers.Dense(4, name="logits")(context)
    model = keras.Model(ids, [logits, weights])
    losses = [ka.TokenCrossentropy(ignore_class=0), ka.DoublyStochasticLoss()]
    model.compile("sgd", losses, loss_weights=[1.0, 0.5])
    found = model.evaluate(
        words, [targets, visible], verbose=0, return_dict=True
    )
    logits, weights = model.predict(words, verbose=0)
    of_tokens = float(losses[0](targets, logits))
    of_weights = float(losses[1](visible, weights))
    assert_worked(found["logits_loss"], of_tokens)
    assert_worked(found["loss"], of_tokens + 0.5 * of_weights)
