"""Beam search, on the same weights; and where theirs ranks otherwise.

Without penalties both do the same. With them, theirs does not count the end
token in the step in which a hypothesis ends, and asks for coverage from the
next step on; ours, as Wu et al., ranks every hypothesis by what it is. Where
that is all, a strategy that ranks as theirs makes our search do what theirs
does.
"""

import dataclasses

import numpy as np
import pytest
from keras import ops

from keras_attention.decoding.search import Generated
from keras_attention.decoding.strategies import Strategy
from tests.oracles.tensorflow_addons import inputs, ours

PENALIZED = ("length", "coverage", "both")


@dataclasses.dataclass(frozen=True)
class TheirBeam(Strategy):
    """Ranks as tensorflow-addons does."""

    width: int
    length_penalty: float = 0.0
    coverage_penalty: float = 0.0
    needs_coverage = True

    def choose(self, log_probs, so_far, noise):
        """The best of all continuations."""
        is_end = ops.arange(inputs.TOKENS) == inputs.END
        stays = ops.logical_or(so_far.finished[..., None], is_end)
        lengths = so_far.lengths[..., None] + 1 - ops.cast(stays, "int32")
        covered = ops.where(so_far.coverage == 0, 1.0, so_far.coverage)
        cp = ops.sum(ops.log(ops.minimum(covered, 1.0)), axis=-1)
        cp = cp * ops.cast(so_far.finished, cp.dtype)
        totals = so_far.log_probs[..., None] + log_probs
        sixths = (5.0 + ops.cast(lengths, "float32")) / 6.0
        ranks = totals / sixths**self.length_penalty
        ranks = ranks + self.coverage_penalty * cp[..., None]
        _, best = ops.top_k(ops.reshape(ranks, (inputs.B, -1)), self.width)
        best = ops.cast(best, "int32")
        totals = ops.reshape(totals, (inputs.B, -1))
        totals = ops.take_along_axis(totals, best, axis=-1)
        return best // inputs.TOKENS, best % inputs.TOKENS, totals


@pytest.fixture
def theirs(addons, case):
    """What theirs finds in a case, as ours is given."""
    found = {
        name: addons["decoders"][f"{case}-{name}"]
        for name in ("tokens", "lengths", "log_probs", "scores")
    }
    steps = found["tokens"].shape[-1]
    assert steps == inputs.MAX_LENGTH  # So in these cases.
    found["scores"] = found["scores"][:, -1]
    return Generated(**found, alignments=_along_parents(addons, case))


def _along_parents(addons, case):
    """The attention on the way to each hypothesis, zeros behind its end."""
    given = {
        name: addons["decoders"][f"{case}-{name}"]
        for name in ("alignments", "parents", "lengths")
    }
    at = np.tile(np.arange(inputs.WIDTH), (inputs.B, 1))
    steps = []
    for t in reversed(range(inputs.MAX_LENGTH)):
        at = np.take_along_axis(given["parents"][:, t], at, axis=1)
        row = np.take_along_axis(given["alignments"][t], at[..., None], axis=1)
        steps.append(row)
    is_real = inputs.real(given["lengths"], inputs.MAX_LENGTH)
    return np.stack(steps[::-1], axis=2) * is_real[..., None]


def _search(case, strategy="beam", **options):
    given = inputs.decoders()
    name, may_end, _penalties = inputs.BEAMS[case]
    decoder = ours.decoder(given, name, may_end)
    return ours.generate(
        decoder, given, strategy=strategy, n_best=inputs.WIDTH, **options
    )


def _beam(case):
    penalties = inputs.BEAMS[case][-1]
    return _search(case, width=inputs.WIDTH, **penalties)


def _assert_same_hypotheses(found, theirs):
    """In the same order, by the same paths."""
    np.testing.assert_array_equal(found.tokens, theirs.tokens)
    np.testing.assert_array_equal(found.lengths, theirs.lengths)
    ours.assert_equal(found.log_probs, theirs.log_probs)
    ours.assert_equal(found.alignments, theirs.alignments)


@pytest.mark.parametrize("case", ["plain", "monotonic", "endless"])
def test_the_same_search(theirs, case):
    """Without penalties; or with that of length, where nothing ends."""
    found = _beam(case)
    _assert_same_hypotheses(found, theirs)
    ours.assert_equal(found.scores, theirs.scores)
    ended_at = np.unique(found.lengths).size
    assert ended_at == 1 if case == "endless" else ended_at > 2


@pytest.mark.parametrize("case", PENALIZED)
def test_a_strategy_that_ranks_as_theirs(theirs, case):
    strategy = TheirBeam(inputs.WIDTH, **inputs.BEAMS[case][-1])
    _assert_same_hypotheses(_search(case, strategy), theirs)


@pytest.mark.parametrize("case", PENALIZED)
def test_scores(theirs, case):
    """Each side's are what its rule says, and differ where the rules do."""
    found = _beam(case)
    ended_before, ends_last = _ends(theirs)
    ours.assert_equal(
        theirs.scores,
        _scores(theirs, case, theirs.lengths - ends_last, ended_before),
    )
    ours.assert_equal(found.scores, _scores(found, case, found.lengths, True))
    assert (found.tokens != theirs.tokens).any()
    differ = ends_last if case == "length" else ~ended_before
    same = _found_by_both(found, theirs)
    assert {bool(differ[its]) for _mine, its in same} == {True, False}
    for mine, its in same:
        is_equal = np.isclose(found.scores[mine], theirs.scores[its], 1e-5)
        assert is_equal != differ[its]


@pytest.mark.parametrize("case", ["monotonic"])
def test_alignments_are_those_of_the_tokens(addons, theirs, case):
    """Theirs, sorted by `gather_tree_from_array`, are of other hypotheses.

    Their history has a step's alignments in the order before the step.
    """
    given = inputs.decoders()
    tokens = theirs.tokens.reshape(-1, inputs.MAX_LENGTH)
    given_tokens = np.pad(tokens, [(1, 0)] * 2, constant_values=inputs.START)
    wide = {
        name: np.repeat(x, inputs.WIDTH, axis=0)
        for name, x in {**given, "mask": ours.mask(given)}.items()
        if name in ("value", "mask", "h", "c")
    }
    _logits, alignments = ours.decoder(given, inputs.BEAMS[case][0])(
        given_tokens[1:, :-1],
        wide["value"],
        wide["mask"],
        initial_state=[wide["h"], wide["c"]],
        return_attention_scores=True,
    )
    alignments = ops.reshape(alignments, theirs.alignments.shape)
    is_real = inputs.real(theirs.lengths, inputs.MAX_LENGTH)
    alignments = ops.convert_to_numpy(alignments)[is_real]
    ours.assert_equal(alignments, theirs.alignments[is_real])
    as_sorted = addons["decoders"][f"{case}-sorted_alignments"]
    as_sorted = as_sorted.transpose(1, 2, 0, 3)[is_real]
    assert np.abs(as_sorted - alignments).max() > 0.1


def _ends(found):
    """Which hypotheses ended before the last step, and which in it."""
    ends = found.tokens[..., -1] == inputs.END
    is_full = found.lengths == inputs.MAX_LENGTH
    return ends & ~is_full, ends & is_full


def _scores(found, case, lengths, is_covered):
    """`log P / lp + beta cp` of Wu et al., the latter where it counts."""
    penalties = inputs.BEAMS[case][-1]
    alpha = penalties.get("length_penalty", 0)
    beta = penalties.get("coverage_penalty", 0)
    coverage = found.alignments.sum(2)
    is_place = ours.mask(inputs.decoders())[:, None]
    covered = np.where(is_place, np.clip(coverage, 1e-9, 1), 1)
    cp = np.log(covered).sum(-1) * is_covered
    return found.log_probs / ((5 + lengths) / 6) ** alpha + beta * cp


def _found_by_both(found, theirs):
    """Where the same tokens are."""
    return [
        ((b, mine), (b, its))
        for b in range(inputs.B)
        for mine in range(inputs.WIDTH)
        for its in range(inputs.WIDTH)
        if (found.tokens[b, mine] == theirs.tokens[b, its]).all()
    ]
