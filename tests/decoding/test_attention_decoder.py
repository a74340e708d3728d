import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import keras_attention as ka
from keras_attention.decoding.attention_cell import AttentionCell
from keras_attention.decoding.attention_decoder import AttentionDecoder

BATCH, SOURCE, TARGET, TOKENS = 3, 5, 4, 9
ATTENTIONS = {
    "luong": lambda: ka.LuongAttention(),
    "bahdanau": lambda: ka.BahdanauAttention(4),
    "local_m": lambda: ka.LocalMonotonicAttention(1),
    "local_p": lambda: ka.LocalPredictiveAttention(2),
    "heads": lambda: ka.MultiHeadAttention(2, 3),
    "coverage": lambda: ka.CoverageAttention(4),
    "intra_temporal": lambda: ka.IntraTemporalAttention(),
    "monotonic": lambda: ka.MonotonicAttention(),
    "monotonic_hard": lambda: ka.MonotonicAttention(mode="hard"),
    "forward": lambda: ka.ForwardAttention(transition_agent=True),
    "forward_mask": lambda: ka.ForwardMaskAttention(),
}
CELLS = {
    "gru": lambda: keras.layers.GRUCell(5),
    "lstm": lambda: keras.layers.LSTMCell(5),
    "stacked": lambda: keras.layers.StackedRNNCells(
        [keras.layers.LSTMCell(5), keras.layers.GRUCell(4)]
    ),
}
#: Every attention, every cell, both orders, fed or not.
KINDS = [
    *((name, "gru", "luong", True) for name in ATTENTIONS),
    ("bahdanau", "lstm", "bahdanau", False),
    ("coverage", "lstm", "bahdanau", False),
    ("bahdanau", "stacked", "luong", False),
    ("bahdanau", "stacked", "bahdanau", True),
]


def name_of(kind):
    return "-".join(map(str, kind))


every_kind = pytest.mark.parametrize("kind", KINDS, ids=name_of)
some_kinds = pytest.mark.parametrize(
    "kind",
    [
        ("bahdanau", "lstm", "bahdanau", False),
        ("coverage", "gru", "luong", True),
    ],
    ids=name_of,
)


def decoder_of(kind, jit_compile=False, **more):
    attention, cell, order, feeding = kind
    keras.utils.set_random_seed(1)
    decoder = AttentionDecoder(
        AttentionCell(
            CELLS[cell](),
            ATTENTIONS[attention](),
            order,
            units=6,
            input_feeding=feeding,
        ),
        keras.layers.Embedding(TOKENS, 3),
        keras.layers.Dense(TOKENS),
        jit_compile=jit_compile,
        **more,
    )
    decoder.build((BATCH, TARGET), (BATCH, SOURCE, 6))
    rng = np.random.default_rng(0)
    for weight in decoder.trainable_variables:
        weight.assign(rng.normal(size=weight.shape))
    return decoder


def inputs():
    rng = np.random.default_rng(2)
    targets = rng.integers(0, TOKENS, (BATCH, TARGET)).astype("int32")
    memory = rng.normal(size=(BATCH, SOURCE, 6)).astype("float32")
    mask = np.arange(SOURCE) < [[5], [3], [2]]
    return targets, memory, mask


def step_by_step(decoder, targets, memory, mask):
    """Logits and weights, one call of the cell after the other."""
    cell = decoder.cell
    remembered = cell.attention.remember(
        ops.convert_to_tensor(memory), None, mask
    )
    state = cell.initial_state(remembered)
    logits, weights = [], []
    for t in range(targets.shape[1]):
        h, weight, state = cell.step(
            decoder.embedding(targets[:, t]), state, remembered
        )
        logits.append(decoder.output_layer(h))
        weights.append(weight)
    return ops.stack(logits, 1), ops.stack(weights, 1), state


@every_kind
def test_teacher_forced_is_step_by_step(kind):
    decoder, (targets, memory, mask) = decoder_of(kind), inputs()
    logits, weights, states = decoder(
        targets,
        memory,
        memory_mask=mask,
        return_attention_scores=True,
        return_state=True,
    )
    assert logits.shape == (BATCH, TARGET, TOKENS)
    assert weights.shape == (BATCH, TARGET, SOURCE)
    expected, expected_weights, last = step_by_step(
        decoder, targets, memory, mask
    )
    np.testing.assert_allclose(logits, expected, atol=1e-5)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-5)
    flat = keras.tree.flatten(last["cell"])
    for state, right in zip(states, flat, strict=True):
        np.testing.assert_allclose(state, right, atol=1e-5)
    hidden = ~np.broadcast_to(mask[:, None], weights.shape)
    assert not weights.numpy()[hidden].any()


@every_kind
def test_generated_tokens_are_the_most_probable_when_given_back(kind):
    decoder, (_, memory, mask) = decoder_of(kind), inputs()
    found = decoder.generate(memory, mask, max_length=6, start_id=1, end_id=2)
    tokens, lengths = found.tokens.numpy(), found.lengths.numpy()
    given = np.concatenate([np.full((BATCH, 1), 1), tokens[:, :-1]], axis=1)
    logits, weights = decoder(
        given, memory, memory_mask=mask, return_attention_scores=True
    )
    log_probs = ops.log_softmax(logits).numpy()
    for b, length in enumerate(lengths):
        own = tokens[b, :length]
        assert own.tolist() == log_probs[b, :length].argmax(-1).tolist()
        total = log_probs[b, range(length), own].sum()
        np.testing.assert_allclose(found.log_probs[b], total, rtol=1e-5)
        np.testing.assert_allclose(
            found.alignments[b, :length], weights[b, :length], atol=1e-5
        )
        assert not found.alignments[b, length:].numpy().any()


@every_kind
def test_each_example_gets_what_it_gets_alone(kind):
    decoder, (_, memory, mask) = decoder_of(kind), inputs()
    rules = {"max_length": 5, "start_id": 1, "end_id": 2, "strategy": "beam"}
    together = decoder.generate(memory, mask, **rules)
    for b in range(BATCH):
        length = mask[b].sum()
        alone = decoder.generate(memory[b : b + 1, :length], None, **rules)
        assert (alone.tokens[0].numpy() == together.tokens[b].numpy()).all()
        np.testing.assert_allclose(
            alone.log_probs[0], together.log_probs[b], rtol=1e-4
        )


@some_kinds
def test_a_wide_beam_is_no_worse_and_scores_what_it_says(kind):
    decoder, (_, memory, mask) = decoder_of(kind), inputs()
    rules = {"max_length": 5, "start_id": 1, "end_id": 2}
    greedy = decoder.generate(memory, mask, **rules)
    beam = decoder.generate(
        memory, mask, **rules, strategy="beam", width=40, n_best=3
    )
    assert beam.tokens.shape == (BATCH, 3, 5)
    assert (beam.log_probs[:, 0] >= greedy.log_probs - 1e-5).numpy().all()
    for n in range(3):
        tokens = beam.tokens[:, n].numpy()
        given = np.concatenate([np.full((BATCH, 1), 1), tokens[:, :-1]], 1)
        logits = decoder(given, memory, memory_mask=mask)
        log_probs = ops.log_softmax(logits).numpy()
        for b, length in enumerate(beam.lengths[:, n].numpy()):
            total = log_probs[b, range(length), tokens[b, :length]].sum()
            np.testing.assert_allclose(beam.log_probs[b, n], total, rtol=1e-4)


@some_kinds
def test_compiled_and_plain_are_the_same(kind):
    targets, memory, mask = inputs()
    rules = {"max_length": 5, "start_id": 1, "end_id": 2, "strategy": "beam"}
    found = []
    for jit_compile in (True, False):
        decoder = decoder_of(kind, jit_compile=jit_compile)
        with tf.GradientTape() as tape:
            logits = decoder(targets, memory, memory_mask=mask)
            loss = ops.sum(ops.sin(logits))
        gradients = tape.gradient(loss, decoder.trainable_variables)
        generated = decoder.generate(memory, mask, **rules)
        found.append([logits, *gradients, generated.log_probs])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(
            tf.convert_to_tensor(a),
            tf.convert_to_tensor(b),
            rtol=1e-4,
            atol=1e-4,
        )


@every_kind
def test_gradients_are_those_of_the_steps(kind):
    decoder, (targets, memory, mask) = decoder_of(kind), inputs()
    memory = tf.constant(memory)
    found = []
    for run in (
        lambda: decoder(targets, memory, memory_mask=mask),
        lambda: step_by_step(decoder, targets, memory, mask)[0],
    ):
        with tf.GradientTape() as tape:
            tape.watch(memory)
            loss = ops.sum(ops.sin(run()))
        weights = [weight.value for weight in decoder.trainable_variables]
        sources = [memory, *weights]
        zero = tf.UnconnectedGradients.ZERO
        found.append(tape.gradient(loss, sources, unconnected_gradients=zero))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(
            tf.convert_to_tensor(a), tf.convert_to_tensor(b), atol=2e-4
        )


@some_kinds
def test_padded_targets_leave_the_state_as_it_was(kind):
    decoder, (targets, memory, mask) = decoder_of(kind), inputs()
    padded = np.pad(targets, [(0, 0), (0, 3)], constant_values=4)
    is_word = np.arange(TARGET + 3) < np.full((BATCH, 1), TARGET)
    logits, states = decoder(
        padded,
        memory,
        memory_mask=mask,
        targets_mask=is_word,
        return_state=True,
    )
    expected, right = decoder(
        targets, memory, memory_mask=mask, return_state=True
    )
    np.testing.assert_allclose(logits[:, :TARGET], expected, atol=1e-6)
    for a, b in zip(states, right, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_first_state_is_an_input():
    decoder = decoder_of(("luong", "lstm", "luong", False))
    targets, memory, mask = inputs()
    states = [np.full((BATCH, 5), n, "float32") for n in (0.5, -0.5)]
    plain = decoder(targets, memory, memory_mask=mask)
    given = decoder(targets, memory, memory_mask=mask, initial_state=states)
    assert np.abs(given - plain).max() > 0.1
    rules = {"max_length": 5, "start_id": 1, "end_id": 2}
    from_zero = decoder.generate(memory, mask, **rules)
    from_given = decoder.generate(memory, mask, states, **rules)
    assert np.abs(from_given.log_probs - from_zero.log_probs).max() > 0.01


@pytest.mark.parametrize(
    "jit_compile, steps", [("auto", TARGET), ("auto", None), (True, TARGET)]
)
def test_trains_in_a_functional_model(jit_compile, steps):
    keras.utils.set_random_seed(0)
    targets = keras.Input((steps,), dtype="int32")
    memory = keras.Input((steps and SOURCE, 6))
    decoder = decoder_of(("bahdanau", "lstm", "bahdanau", False), True)
    model = keras.Model([targets, memory], decoder(targets, memory))
    model.compile("adam", ka.TokenCrossentropy(), jit_compile=jit_compile)
    given, value, _ = inputs()
    history = model.fit([given, value], given, epochs=3, verbose=0)
    losses = history.history["loss"]
    assert losses[-1] < losses[0]


def test_dropout_of_a_cell_is_the_same_at_every_step_and_only_in_training():
    keras.utils.set_random_seed(0)
    decoder = AttentionDecoder(
        AttentionCell(
            keras.layers.LSTMCell(5, dropout=0.5, recurrent_dropout=0.5),
            ka.LuongAttention(),
        ),
        keras.layers.Embedding(TOKENS, 3),
        keras.layers.Dense(TOKENS),
        jit_compile=False,
    )
    targets, memory, _ = inputs()
    calm = decoder(targets, memory)
    np.testing.assert_array_equal(calm, decoder(targets, memory))
    first = decoder(targets, memory, training=True)
    second = decoder(targets, memory, training=True)
    assert np.abs(first - second).max() > 1e-3
    np.testing.assert_array_equal(calm, decoder(targets, memory))
    assert decoder.cell.cell._dropout_mask is None


def test_scheduled_sampling_replaces_some_tokens_by_the_models_own():
    kind = ("bahdanau", "gru", "luong", False)
    targets, memory, mask = inputs()
    plain = decoder_of(kind)(targets, memory, memory_mask=mask)
    decoder = decoder_of(kind, scheduled_sampling=0.6, seed=3)
    forced = decoder(targets, memory, memory_mask=mask)
    np.testing.assert_allclose(forced, plain, atol=1e-6)
    # A model that is sure of its own token: 7, whatever is given.
    decoder.output_layer.bias.assign(100.0 * np.eye(TOKENS)[7])
    sampled = decoder(targets, memory, memory_mask=mask, training=True)
    np.testing.assert_allclose(
        sampled[:, 0],
        decoder(targets, memory, memory_mask=mask)[:, 0],
        atol=1e-5,
    )  # The first token is always the given one.
    replaced = 0
    # Which tokens were replaced shows by trying both for the second step.
    for b in range(BATCH):
        given, its_own = targets.copy(), targets.copy()
        its_own[b, 1] = 7
        with_given, with_own = (
            decoder(x, memory, memory_mask=mask)[b, 1] for x in (given, its_own)
        )
        is_given = np.allclose(sampled[b, 1], with_given, atol=1e-4)
        is_own = np.allclose(sampled[b, 1], with_own, atol=1e-4)
        assert is_given or is_own
        replaced += is_own
    assert replaced in (1, 2, 3)


@pytest.mark.parametrize("jit_compile", [True, False])
def test_sampling_draws_by_its_seed(jit_compile):
    decoder, (_, memory, mask) = decoder_of(KINDS[0], jit_compile), inputs()
    rules = {"max_length": 20, "start_id": 1, "end_id": 2, "min_length": 20}

    def draw(**more):
        sample = {"strategy": "sample", "temperature": 3.0, **more}
        return decoder.generate(memory, mask, **rules, **sample).tokens.numpy()

    np.testing.assert_array_equal(draw(seed=0), draw(seed=0))
    assert (draw(seed=0) != draw(seed=1)).any()
    assert (draw() != draw()).any()


def test_bfloat16():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        decoder = decoder_of(("coverage", "lstm", "bahdanau", True))
    finally:
        keras.config.set_dtype_policy("float32")
    targets, memory, mask = inputs()
    logits = decoder(targets, memory, memory_mask=mask)
    assert logits.dtype == "bfloat16"
    assert np.isfinite(ops.cast(logits, "float32")).all()
    found = decoder.generate(memory, mask, max_length=5, start_id=1, end_id=2)
    assert np.isfinite(found.log_probs).all()


def test_lists_and_float64_are_taken():
    decoder, (_, memory, mask) = decoder_of(KINDS[0], True), inputs()
    rules = {"max_length": 4, "start_id": 1, "end_id": 2}
    found = decoder.generate(
        memory.astype("float64"), mask, **rules, prefix=[[3, 4]] * BATCH
    )
    assert found.tokens[:, :2].numpy().tolist() == [[3, 4]] * BATCH


def test_generate_takes_the_mask_that_hangs_on_the_memory():
    decoder, (_, memory, mask) = decoder_of(KINDS[1]), inputs()
    memory[~mask] = 0
    masked = keras.layers.Masking()(ops.convert_to_tensor(memory))
    rules = {"max_length": 5, "start_id": 0, "end_id": 1}
    found = decoder.generate(masked, **rules)
    right = decoder.generate(memory, mask, **rules)
    assert not (found.alignments.numpy() * ~mask[:, None]).any()
    np.testing.assert_array_equal(found.alignments, right.alignments)


def test_empty_source_reads_zeros():
    decoder, (targets, memory, mask) = decoder_of(KINDS[1]), inputs()
    mask[2] = False
    logits, weights = decoder(
        targets, memory, memory_mask=mask, return_attention_scores=True
    )
    assert np.isfinite(logits).all()
    assert not weights[2].numpy().any()


@pytest.mark.parametrize("n_best", [0, 5])
def test_n_best_is_within_the_width(n_best):
    decoder, (_, memory, _) = decoder_of(KINDS[0]), inputs()
    with pytest.raises(ValueError, match="`n_best` must be from 1 to the"):
        decoder.generate(
            memory,
            max_length=3,
            start_id=1,
            end_id=2,
            strategy="beam",
            n_best=n_best,
        )


def test_generate_before_the_weights_exist():
    decoder = AttentionDecoder(
        AttentionCell(keras.layers.GRUCell(5), ka.LuongAttention()),
        keras.layers.Embedding(TOKENS, 3),
        keras.layers.Dense(TOKENS),
    )
    with pytest.raises(ValueError, match="its weights do not exist yet"):
        decoder.generate(inputs()[1], max_length=3, start_id=1, end_id=2)


def test_cell_is_an_attention_cell():
    with pytest.raises(ValueError, match="`cell` must be an AttentionCell"):
        AttentionDecoder(
            keras.layers.GRUCell(5),
            keras.layers.Embedding(TOKENS, 3),
            keras.layers.Dense(TOKENS),
        )
