import sys

import numpy as np
import pytest

import keras_attention as ka


@pytest.fixture(autouse=True)
def rapidfuzz():
    pytest.importorskip("rapidfuzz")


def test_kitten_and_sitting():
    rates = ka.error_rates(["kitten"], [["sitting"]])
    assert (rates.edits, rates.reference_tokens) == (3, 7)
    assert rates.token == 3 / 7
    assert rates.sequence == 1.0


def test_edits_are_summed_before_they_are_divided():
    """3 of 12 words; the mean of the rates would be 0.55."""
    hypotheses = [["a"] * 10, ["b", "c"]]
    references = [[["a"] * 9 + ["x"]], [["d", "e"]]]
    rates = ka.error_rates(hypotheses, references)
    assert rates.token == 3 / 12
    assert (rates.wrong, rates.sequences) == (2, 2)


def test_nearest_reference_counts():
    rates = ka.error_rates([[1, 2, 3]], [[[9, 9, 9, 9], [1, 2, 3, 4]]])
    assert (rates.edits, rates.reference_tokens) == (1, 4)


def test_of_equally_near_ones_the_shorter_counts():
    rates = ka.error_rates([[1, 2]], [[[1, 2, 3], [1]]])
    assert (rates.edits, rates.reference_tokens) == (1, 1)


def test_share_of_wrong_sequences():
    rates = ka.error_rates([[1], [2], [3]], [[[1]], [[2]], [[4]]])
    assert rates.sequence == pytest.approx(1 / 3)


def test_padding_and_marks_are_left_out():
    hypotheses = np.array([[5, 6, 2, 0], [7, 2, 0, 0]])
    references = [np.array([[5, 6, 8, 2]]), [[7]]]
    rates = ka.error_rates(hypotheses, references, ignore=(0, 2))
    assert (rates.edits, rates.reference_tokens, rates.wrong) == (1, 4, 1)


def test_more_may_be_wrong_than_there_is():
    assert ka.error_rates([[1, 2, 3]], [[[9]]]).token == 3.0


@pytest.mark.parametrize(
    "hypotheses, references, expected",
    [
        ([[1]], [], "a list for each hypothesis. Received: 1 hypo"),
        ([[1]], [[]], r"one reference or more .* references\[0\]=\[\]"),
        (["a"], ["a"], r"one reference or more .* references\[0\]='a'"),
        ([[1]], [[[]]], "`references` must hold a token"),
        ([], [], "`references` must hold a token"),
    ],
)
def test_bad_arguments(hypotheses, references, expected):
    with pytest.raises(ValueError, match=expected):
        ka.error_rates(hypotheses, references)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance.Levenshtein", None)
    expected = r"`error_rates` needs `rapidfuzz`.*layers\[metrics\]"
    with pytest.raises(ImportError, match=expected):
        ka.error_rates([[1]], [[[1]]])
