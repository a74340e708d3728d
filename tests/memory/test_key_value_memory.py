import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, batch, det

WORDS = (
    "!directed_by 1979 alien blade_runner directed directed_by release_year "
    "ridley_scott who"
).split()
TABLE = det((9, 3), 0.2, 1.0)


def _bag(*words):
    return TABLE[[WORDS.index(word) for word in words]].sum(0)


QUESTION = batch(_bag("who", "directed_by", "alien"))
KEYS = batch(
    [
        _bag("blade_runner", "directed_by"),
        _bag("alien", "directed_by"),
        _bag("alien", "release_year"),
    ]
)
VALUES = batch([_bag("ridley_scott"), _bag("ridley_scott"), _bag("1979")])


def _remember(hops, keys=KEYS, values=VALUES, **kwargs):
    remember = ka.KeyValueMemory(hops=hops)
    remember.build(QUESTION.shape, values.shape, keys.shape)
    for R, phase in zip(remember.R, (0.3, 0.6), strict=False):
        R.assign(det((3, 3), phase).T)
    return remember(
        QUESTION, values, keys, return_attention_scores=True, **kwargs
    )


def test_first_hop():
    q, p = _remember(1)
    assert_worked(p, [[[0.114648, 0.222358, 0.662994]]])
    assert_worked(
        np.asarray(p)[0] @ VALUES[0], [[-0.880049, 0.402232, 0.776398]]
    )
    assert_worked(q, [[-0.673484, 0.833207, 1.303351]])


def test_second_hop():
    q, p = _remember(2)
    assert_worked(p[0, 1], [0.009211, 0.093424, 0.897365])
    o = np.asarray(p)[0, 1] @ VALUES[0]
    assert_worked(o, [-0.846819, 0.579401, 0.697514])
    assert_worked(q, [[-0.659649, 1.372602, 1.697275]])


def test_answer():
    q, _p = _remember(2)
    candidates = np.stack([_bag(w) for w in ("ridley_scott", "1979")])
    e = np.exp(candidates @ np.asarray(q)[0])
    assert_worked(e[1] / e[0], 0.585753 / 0.403465)


def test_empty_slots_do_not_count():
    keys = np.concatenate([KEYS, 9 * np.ones((1, 2, 3), "float32")], 1)
    values = np.concatenate([VALUES, 9 * np.ones((1, 2, 3), "float32")], 1)
    mask = np.arange(5)[None] < 3
    q, p = _remember(2, keys, values, value_mask=mask)
    assert_worked(q, [[-0.659649, 1.372602, 1.697275]])
    assert_worked(p[..., 3:], np.zeros((1, 2, 2)))


def test_empty_memory_leaves_the_question():
    q, p = _remember(2, value_mask=np.zeros((1, 3), bool))
    np.testing.assert_array_equal(q, QUESTION)
    assert_worked(p, np.zeros((1, 2, 3)))


def test_questions_and_values_must_be_as_wide():
    expected = (
        "`value` must be as wide as `query`, since they are added. Received: "
        "query_dim=3, value_dim=2"
    )
    with pytest.raises(ValueError, match=expected):
        ka.KeyValueMemory()(QUESTION, VALUES[..., :2])


def test_hops_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="`hops` must be a positive integer"):
        ka.KeyValueMemory(hops=0)
