import sys

import pytest

import keras_attention as ka

HYPOTHESES = ["The dog bit the man.", "It was not surprising.", "He slept."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["He slept.", "He was asleep."],
]


@pytest.fixture
def sacrebleu():
    return pytest.importorskip("sacrebleu")


def test_is_that_of_sacrebleu(sacrebleu):
    found = ka.bleu(HYPOTHESES, REFERENCES)
    by_rank = [list(rank) for rank in zip(*REFERENCES, strict=True)]
    right = sacrebleu.corpus_bleu(HYPOTHESES, by_rank)
    assert found.score == right.score
    assert 0 < found.score < 100


def test_signature_says_how(sacrebleu):
    found = ka.bleu(HYPOTHESES, REFERENCES, lowercase=True)
    parts = found.signature.split("|")
    assert "nrefs:2" in parts and "case:lc" in parts and "tok:13a" in parts
    assert f"version:{sacrebleu.__version__}" in parts
    assert str(found) == f"BLEU {found.score:.2f} ({found.signature})"


def test_numbers_of_references_may_differ(sacrebleu):
    references = [*REFERENCES[:2], REFERENCES[2][:1]]
    found = ka.bleu(HYPOTHESES, references)
    assert "nrefs:var" in found.signature
    assert found.score == ka.bleu(HYPOTHESES, REFERENCES).score


def test_ids_joined_by_spaces(sacrebleu):
    found = ka.bleu(["4 8 15 16"], [["4 8 15 16"]], tokenize="none")
    assert found.score == pytest.approx(100)
    assert "tok:none" in found.signature


def test_hypotheses_and_references_must_be_as_many(sacrebleu):
    with pytest.raises(ValueError, match="Received: 3 hypotheses, 2 refer"):
        ka.bleu(HYPOTHESES, REFERENCES[:2])
    with pytest.raises(ValueError, match=r"references\[0\]='The dog"):
        ka.bleu(HYPOTHESES[:1], ["The dog bit the man."])


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    expected = r"`bleu` needs `sacrebleu`.*layers\[metrics\]"
    with pytest.raises(ImportError, match=expected):
        ka.bleu(HYPOTHESES, REFERENCES)


def test_by_hand(sacrebleu):
    """8 of 9 words, 6 of 7 pairs, 4 of 5 triples, 2 of 3 quadruples."""
    hypotheses = ["the dog bit the man", "it was not surprising"]
    references = [["the dog bit the man"], ["it was not unexpected"]]
    right = 100 * (8 / 9 * 6 / 7 * 4 / 5 * 2 / 3) ** 0.25
    assert ka.bleu(hypotheses, references).score == pytest.approx(right)
