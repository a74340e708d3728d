"""One search for any step function, compared with all sequences there are."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_attention.decoding import search, strategies
from keras_attention.decoding.search import Rules

START, END, TOKENS, LONGEST = 0, 1, 4, 5
RULES = Rules(LONGEST, START, END)


def tables(batch=3, seed=0):
    """Log-probabilities of the next token by the last two, per example."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(batch, TOKENS, TOKENS, TOKENS)) * 1.5
    return np.asarray(keras.ops.log_softmax(logits.astype("float32")))


def generate(table, strategy, rules=RULES, places=None, **more):
    """The state is the token before the last: it has to follow its beam."""
    table = tf.convert_to_tensor(table)
    batch = table.shape[0]
    wide = search.repeated(table, strategy.width)
    if places is not None:
        places = search.repeated(tf.constant(places), strategy.width)

    def step(tokens, state):
        rows = tf.range(tf.shape(tokens)[0])
        index = tf.stack([rows, state["before"], tokens], axis=-1)
        logits = tf.gather_nd(wide, index)
        weights = None
        if places is not None:
            weights = tf.gather_nd(places, tf.stack([rows, tokens], axis=-1))
        return logits, weights, {"before": tokens}

    zeros = tf.zeros((batch,))
    weights = None if places is None else tf.zeros((batch, places.shape[-1]))
    return search.generate(
        step,
        {"before": tf.fill((batch,), START)},
        strategy,
        rules,
        like=(zeros, weights),
        **more,
    )


def log_prob(table, tokens):
    """Of one sequence up to its end."""
    before, last, total = START, START, 0.0
    for token in tokens:
        total += table[before, last, token]
        before, last = last, token
    return total


def every_sequence(allowed=lambda tokens: True):
    """Those that end, and those that are cut off."""
    for length in range(1, LONGEST + 1):
        for tokens in itertools.product(range(TOKENS), repeat=length):
            ends = tokens[-1] == END
            is_one = END not in tokens[:-1] and (ends or length == LONGEST)
            if is_one and allowed(tokens):
                yield tokens


def ranked(table, alpha=0.0, **more):
    """All sequences, best first, with their log-probabilities and scores."""
    found = []
    for tokens in every_sequence(**more):
        total = log_prob(table, tokens)
        found.append((total / ((5 + len(tokens)) / 6) ** alpha, total, tokens))
    return sorted(found, reverse=True)


def padded(tokens):
    return [*tokens, *[END] * (LONGEST - len(tokens))]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_wide_beam_finds_the_best_of_all(alpha):
    table = tables()
    beam = strategies.Beam(width=400, length_penalty=alpha)
    found = generate(table, beam)
    for b in range(len(table)):
        for n, (score, total, tokens) in enumerate(ranked(table[b], alpha)[:9]):
            assert found.tokens[b, n].numpy().tolist() == padded(tokens)
            assert found.lengths[b, n] == len(tokens)
            np.testing.assert_allclose(found.log_probs[b, n], total, rtol=1e-5)
            np.testing.assert_allclose(found.scores[b, n], score, rtol=1e-5)


def pruned(table, width, alpha=0.0):
    """Beam search as the book has it."""
    beam = [(0.0, 0.0, ())]
    for _ in range(LONGEST):
        new = []
        for score, total, tokens in beam:
            if END in tokens:
                new.append((score, total, tokens))
                continue
            for token in range(TOKENS):
                longer = (*tokens, token)
                total = log_prob(table, longer)
                penalty = ((5 + len(longer)) / 6) ** alpha
                new.append((total / penalty, total, longer))
        beam = sorted(new, reverse=True)[:width]
    return beam


@pytest.mark.parametrize("compiled", [None, False, True])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_narrow_beam_is_pruned_at_each_step(width, compiled):
    table = tables(seed=width)
    beam = strategies.Beam(width, length_penalty=0.7)

    def run():
        return generate(table, beam)

    if compiled is not None:
        run = tf.function(run, jit_compile=compiled)
    found = run()
    for b in range(len(table)):
        for n, (score, total, tokens) in enumerate(
            pruned(table[b], width, 0.7)
        ):
            assert found.tokens[b, n].numpy().tolist() == padded(tokens)
            np.testing.assert_allclose(found.log_probs[b, n], total, rtol=1e-5)
            np.testing.assert_allclose(found.scores[b, n], score, rtol=1e-5)


def test_greedy_is_a_beam_of_one():
    table = tables()
    greedy = generate(table, strategies.Greedy())
    beam = generate(table, strategies.Beam(1))
    for a, b in zip(greedy[:4], beam[:4], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("strategy", [strategies.Greedy(), strategies.Beam(3)])
def test_each_example_gets_what_it_gets_alone(strategy, compiled):
    table = tables()
    run = tf.function(
        lambda table: generate(table, strategy)[:4], jit_compile=compiled
    )
    together = run(table)
    for b in range(len(table)):
        alone = run(table[b : b + 1])
        for x, y in zip(alone, together, strict=True):
            np.testing.assert_allclose(x[0], y[b], rtol=1e-6)


def test_a_finished_hypothesis_keeps_its_log_probability_and_length():
    """The end has .6 at once; the long way .4, then nothing is lost."""
    table = np.log(np.full((1, TOKENS, TOKENS, TOKENS), 1e-9))
    table[0, :, START, END] = np.log(0.6)
    table[0, :, START, 2] = np.log(0.4)
    table[0, :, 2, 3] = table[0, :, 3, 3] = 0.0
    table = table.astype("float32")
    plain = generate(table, strategies.Beam(2))
    np.testing.assert_allclose(plain.log_probs[0], np.log([0.6, 0.4]), 1e-4)
    assert plain.lengths[0].numpy().tolist() == [1, LONGEST]
    assert plain.tokens[0, 0].numpy().tolist() == [END] * LONGEST
    longer = generate(table, strategies.Beam(2, length_penalty=3.0))
    assert longer.lengths[0].numpy().tolist() == [LONGEST, 1]
    np.testing.assert_allclose(
        longer.scores[0],
        [np.log(0.4) / (10 / 6) ** 3, np.log(0.6)],
        rtol=1e-4,
    )


def test_minimum_length():
    table = tables()
    rules = Rules(LONGEST, START, END, min_length=4)
    found = generate(table, strategies.Beam(400), rules)
    for b in range(len(table)):
        best = ranked(table[b], allowed=lambda tokens: len(tokens) >= 4)[0]
        assert found.tokens[b, 0].numpy().tolist() == padded(best[2])


def test_forbidden_tokens():
    table = tables()
    rules = Rules(LONGEST, START, END, forbidden=(2, 0))
    found = generate(table, strategies.Beam(100), rules)
    for b in range(len(table)):
        best = ranked(table[b], allowed=lambda x: not {0, 2} & set(x))[0]
        assert found.tokens[b, 0].numpy().tolist() == padded(best[2])
        np.testing.assert_allclose(found.log_probs[b, 0], best[1], rtol=1e-5)


def test_a_prefix_is_kept_and_free_where_it_is_negative():
    table = tables(2)
    prefix = np.array([[3, 2, -1], [-1, -1, 3]])
    found = generate(table, strategies.Beam(400), prefix=tf.constant(prefix))
    for b in range(2):
        forced = prefix[b]
        best = ranked(
            table[b],
            allowed=lambda tokens, forced=forced: all(
                f < 0 or (i < len(tokens) and tokens[i] == f)
                for i, f in enumerate(forced)
            ),
        )[0]
        assert found.tokens[b, 0].numpy().tolist() == padded(best[2])


def test_alignments_follow_their_hypothesis_and_end_with_it():
    table = tables()
    rng = np.random.default_rng(1)
    places = rng.uniform(0.1, 1.0, (3, TOKENS, 2)).astype("float32")
    found = generate(table, strategies.Beam(3), places=places)
    for b, n in itertools.product(range(3), range(3)):
        length = int(found.lengths[b, n])
        inputs = [START, *found.tokens[b, n].numpy()[: length - 1]]
        expected = np.zeros((LONGEST, 2))
        expected[:length] = places[b, inputs]
        np.testing.assert_allclose(found.alignments[b, n], expected)


def test_coverage_penalty():
    table = tables()
    rng = np.random.default_rng(1)
    places = rng.uniform(0.0, 0.4, (3, TOKENS, 3)).astype("float32")
    visible = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]], bool)
    places = places * visible[:, None]
    beam = strategies.Beam(3, length_penalty=0.5, coverage_penalty=0.3)
    found = generate(table, beam, places=places, visible=tf.constant(visible))
    for b, n in itertools.product(range(3), range(3)):
        covered = found.alignments.numpy()[b, n].sum(0)[visible[b]]
        cp = np.log(np.minimum(covered, 1.0)).sum()
        lp = ((5 + int(found.lengths[b, n])) / 6) ** 0.5
        score = found.log_probs[b, n] / lp + 0.3 * cp
        np.testing.assert_allclose(found.scores[b, n], score, rtol=1e-4)
    plain = generate(table, strategies.Beam(3, 0.5), places=places)
    assert (plain.tokens.numpy() != found.tokens.numpy()).any()


def test_coverage_needs_weights():
    with pytest.raises(ValueError, match="`coverage_penalty` needs attention"):
        generate(tables(), strategies.Beam(2, coverage_penalty=0.1))


@pytest.mark.parametrize(
    "name, value",
    [("max_length", 0), ("start_id", -1), ("end_id", 1.5), ("min_length", -2)],
)
def test_rules_are_integers(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be a"):
        Rules(**{"max_length": 3, "start_id": 0, "end_id": 1, name: value})


def test_forbidden_tokens_are_integers():
    with pytest.raises(ValueError, match="`forbidden` must be a non-negative"):
        Rules(3, 0, 1, forbidden=("the",))
