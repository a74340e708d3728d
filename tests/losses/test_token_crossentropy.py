import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import keras_attention as ka
from tests.worked import assert_worked, batch

LOGITS = batch([[1, 2, 0, -1, 0.5, 0], [0, 0, 3, 0, 0, 1]])
TARGETS = np.array([[1, 2]])

#: The entropy of the smoothed target where the others share 0.1.
ENTROPY = 0.486027


def _each(**arguments):
    loss = ka.TokenCrossentropy(reduction=None, **arguments)
    return loss(TARGETS, LOGITS)


def test_without_smoothing():
    assert_worked(_each(), [[0.647871, 0.288544]])


def test_smoothed_over_all():
    found = _each(label_smoothing=0.1, smooth_over="all")
    assert_worked(found, [[0.806204, 0.521878]])


def test_smoothed_over_the_others():
    found = _each(label_smoothing=0.1, smooth_over="others")
    assert_worked(found, [[0.837871, 0.568544]])


def test_entropy_is_subtracted():
    found = _each(
        label_smoothing=0.1, smooth_over="others", subtract_entropy=True
    )
    assert_worked(found, [[0.837871 - ENTROPY, 0.568544 - ENTROPY]])


@pytest.mark.parametrize("smooth_over", ["all", "others"])
def test_best_loss_is_0_without_the_entropy(smooth_over):
    q = {"all": (0.7 + 0.3 / 5, 0.3 / 5), "others": (0.7, 0.3 / 4)}[smooth_over]
    best = np.log([[[q[0], q[1], q[1], q[1], q[1]]]])
    loss = ka.TokenCrossentropy(0.3, smooth_over, subtract_entropy=True)
    assert float(loss([[0]], best)) == pytest.approx(0, abs=1e-6)
    assert float(loss([[0]], best + [1, 0, 0, 0, 0])) > 0.01


def test_mean_is_over_real_tokens():
    """Not over all four, which would halve it."""
    targets = np.array([[1, 2], [0, 0]])
    logits = np.concatenate([LOGITS, LOGITS])
    loss = ka.TokenCrossentropy(ignore_class=0)
    assert_worked(loss(targets, logits), (0.647871 + 0.288544) / 2)


def test_mean_is_weighted():
    found = ka.TokenCrossentropy()(TARGETS, LOGITS, [[3.0, 1.0]])
    assert_worked(found, (3 * 0.647871 + 0.288544) / 4)


def test_sum():
    found = ka.TokenCrossentropy(reduction="sum")(TARGETS, LOGITS)
    assert_worked(found, 0.647871 + 0.288544)


def test_class_0_is_real_unless_ignored():
    right = -np.log(np.exp(1) / np.exp(LOGITS[0, 0]).sum())
    found = ka.TokenCrossentropy()([[0]], LOGITS[:, :1])
    assert_worked(found, right)


def test_a_class_that_is_none_can_be_ignored():
    found = ka.TokenCrossentropy(ignore_class=-100)([[1, -100]], LOGITS)
    assert_worked(found, 0.647871)


def test_targets_may_be_a_column_and_logits_have_no_steps():
    loss = ka.TokenCrossentropy()
    assert_worked(loss([[1], [2]], LOGITS[0]), (0.647871 + 0.288544) / 2)
    assert_worked(loss([1, 2], LOGITS[0]), (0.647871 + 0.288544) / 2)


def test_equals_keras_without_padding():
    random = np.random.default_rng(3)
    logits = random.normal(0, 3, (4, 5, 7)).astype("float32")
    targets = random.integers(0, 7, (4, 5))
    sparse = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert_worked(
        ka.TokenCrossentropy()(targets, logits), sparse(targets, logits)
    )
    smoothed = keras.losses.CategoricalCrossentropy(
        from_logits=True, label_smoothing=0.2
    )
    assert_worked(
        ka.TokenCrossentropy(0.2)(targets, logits),
        smoothed(np.eye(7)[targets], logits),
    )


def test_number_of_classes_may_be_unknown():
    """As where a pointer chooses among the source positions."""
    unknown = tf.TensorSpec((None, None, None), "float32")
    loss = ka.TokenCrossentropy(0.1, "others", reduction=None)
    function = tf.function(
        lambda logits: loss(TARGETS, logits), input_signature=[unknown]
    )
    assert_worked(function(tf.constant(LOGITS)), [[0.837871, 0.568544]])


def test_float16_ids_beyond_2048_are_exact():
    logits = np.zeros((1, 1, 5000), "float16")
    logits[0, 0, 4097] = 20
    assert float(ka.TokenCrossentropy()([[4097]], logits)) < 1e-4
    assert float(ka.TokenCrossentropy()([[4096]], logits)) > 19


def test_fit_agrees_with_a_loss_by_hand():
    """One step of SGD, with the mask of the embedding alone."""
    words = np.array([[3, 4, 1, 2], [5, 2, 0, 0], [1, 0, 0, 0]])
    targets = np.array([[1, 2, 3, 1], [2, 1, 3, 3], [1, 2, 2, 2]])
    embed = keras.layers.Embedding(
        6, 4, mask_zero=True, embeddings_initializer="zeros"
    )
    ids = keras.Input((None,), dtype="int32")
    model = keras.Model(ids, embed(ids))
    model.compile(keras.optimizers.SGD(1.0), ka.TokenCrossentropy())
    history = model.fit(words, targets, batch_size=3, verbose=0)
    assert_worked(history.history["loss"], [np.log(4)])
    gradient = np.zeros((6, 4))
    for word, target in zip(words.ravel(), targets.ravel(), strict=True):
        if word:
            gradient[word] += (0.25 - np.eye(4)[target]) / 7
    assert_worked(embed.embeddings, -gradient)


def test_keras_mask_survives_only_in_keras_layers():
    """Where the mask is lost, `ignore_class` still knows."""
    words = np.array([[3, 4, 0, 0]])
    logits = keras.layers.Embedding(6, 6, mask_zero=True)(words)
    plain = ops.convert_to_tensor(np.asarray(logits))
    by_mask = ka.TokenCrossentropy()(words, logits)
    by_class = ka.TokenCrossentropy(ignore_class=0)(words, plain)
    assert_worked(by_mask, by_class)
    assert float(ka.TokenCrossentropy()(words, plain)) != float(by_mask)


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({"label_smoothing": 1.0}, "`label_smoothing` must be a fraction"),
        ({"smooth_over": "some"}, "`smooth_over` must be 'all' or 'others'"),
        ({"subtract_entropy": 1}, "`subtract_entropy` must be True or False"),
        ({"ignore_class": 0.0}, "`ignore_class` must be an integer or None"),
        ({"ignore_class": True}, "`ignore_class` must be an integer or None"),
        ({"reduction": "mean"}, "`reduction` must be 'mean_with_sample_weight"),
    ],
)
def test_bad_arguments(arguments, expected):
    with pytest.raises(ValueError, match=expected):
        ka.TokenCrossentropy(**arguments)


def test_bad_shapes():
    expected = r"`y_true` must have the axes of `y_pred` without the last"
    with pytest.raises(ValueError, match=expected):
        ka.TokenCrossentropy()(np.zeros((1, 2, 6)), LOGITS)
    with pytest.raises(ValueError, match="`sample_weight` must have at most 2"):
        ka.TokenCrossentropy()(TARGETS, LOGITS, np.ones((1, 2, 6)))
    with pytest.raises(ValueError, match="`y_pred` must have 2 classes"):
        ka.TokenCrossentropy(0.1, "others")([[0, 0]], LOGITS[..., :1])


@pytest.mark.parametrize("size", [1.0, 1e4])
@pytest.mark.parametrize("ignore_class", [None, 2])
def test_compiled_loss_is_the_plain_one(size, ignore_class):
    """XLA computes it in another way, and the gradient too."""
    logits = tf.constant(size * LOGITS, "float32")
    crossentropy = ka.TokenCrossentropy(ignore_class=ignore_class)

    def loss(logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            found = crossentropy(TARGETS, logits)
        return found, tape.gradient(found, logits)

    plain, compiled = loss(logits), tf.function(loss, jit_compile=True)(logits)
    for a, b in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_compiled_loss_of_a_forbidden_class():
    """Whose logit is -inf."""
    logits = tf.constant([[[1.0, -np.inf, 0.5]]])

    def loss(target):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            found = ka.TokenCrossentropy()([[target]], logits)
        return found, tape.gradient(found, logits)

    compiled = tf.function(loss, jit_compile=True)
    found, gradient = compiled(0)
    np.testing.assert_allclose(found, np.log1p(np.exp(-0.5)), rtol=1e-6)
    other = 1 / (1 + np.exp(0.5))
    np.testing.assert_allclose(gradient, [[[-other, 0, other]]], rtol=1e-6)
    assert np.isposinf(compiled(1)[0])
