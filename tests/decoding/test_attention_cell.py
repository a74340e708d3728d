import keras
import numpy as np
import pytest
from keras import ops

import keras_attention as ka
from keras_attention.decoding.attention_cell import AttentionCell
from tests.decoding.cells import BahdanauGRUCell, TanhCell, bahdanau_weights
from tests.worked import assert_worked, assign, batch, det

LUONG = [
    {
        "s": [0.428053, -0.23598, -0.166366],
        "alpha": [0.496714, 0.276781, 0.226505],
        "h": [-0.238309, 0.238744, -0.104402],
    },
    {
        "s": [-0.407122, -0.011409, -0.082587],
        "alpha": [0.272848, 0.32555, 0.401603],
        "h": [-0.297628, 0.537829, -0.501845],
    },
]
BAHDANAU = {
    "all": ([0.278931, 0.35562, 0.365449], [0.852436, 0.243084, -0.014859]),
    "last_masked": ([0.439572, 0.560428, 0], [0.870533, 0.246307, -0.136982]),
    "none": ([0, 0, 0], [0.584155, 0.046882, -0.406471]),
}
MASKS = {"all": [1, 1, 1], "last_masked": [1, 1, 0], "none": [0, 0, 0]}


def test_worked_luong_with_input_feeding():
    cell = AttentionCell(
        TanhCell(3), ka.LuongAttention(), units=3, input_feeding=True
    )
    source, targets = det((3, 3), 0.2, 1.0), det((2, 2), 0.3, 1.0)
    cell.build((1, 2), (1, 3, 3))
    assign(cell.cell, Wx=det((3, 5), 0.1).T, Wh=det((3, 3), 0.5).T)
    assign(cell.attention.score, W=det((3, 3), 0.4))
    assign(cell, W=det((3, 6), 0.9).T)
    memory = cell.attention.remember(ops.convert_to_tensor(batch(source)))
    state = cell.initial_state(memory)
    for t, expected in enumerate(LUONG):
        h, weights, state = cell.step(
            ops.convert_to_tensor(batch(targets[t])), state, memory
        )
        assert_worked(state["cell"][0][0], expected["s"])
        assert_worked(weights[0], expected["alpha"])
        assert_worked(h[0], expected["h"])


@pytest.mark.parametrize("case", BAHDANAU)
def test_worked_bahdanau(case):
    """The previous state asks, and the context goes into the step."""
    cell = AttentionCell(
        BahdanauGRUCell(3), ka.BahdanauAttention(2), "bahdanau"
    )
    source, y = det((3, 4), 0.2, 1.0), det((2,), 0.4, 1.0)
    cell.build((1, 2), (1, 3, 4))
    W, U = bahdanau_weights()
    assign(cell.cell, W=W, U=U)
    score = cell.attention.score
    assign(score, W=det((2, 3), 0.1).T, U=det((2, 4), 0.5).T)
    assign(score, v=det((2, 1), 0.3, 1.0))
    memory = cell.attention.remember(
        ops.convert_to_tensor(batch(source)),
        value_mask=np.array([MASKS[case]], bool),
    )
    state = cell.initial_state(memory, [batch(det((3,), 0.9, 0.8))])
    h, weights, state = cell.step(
        ops.convert_to_tensor(batch(y)), state, memory
    )
    weights_expected, s_expected = BAHDANAU[case]
    assert_worked(weights[0], weights_expected)
    assert_worked(state["cell"][0][0], s_expected)
    assert_worked(h[0, 4:], s_expected)  # Without units: [c; s].


def stacked():
    layers = keras.layers
    return layers.StackedRNNCells([layers.LSTMCell(3), layers.LSTMCell(5)])


@pytest.mark.parametrize(
    "query_state, size", [(None, 5), (0, 3), (3, 5), ((2, 3), 10)]
)
@pytest.mark.parametrize("order", ["luong", "bahdanau"])
def test_which_state_asks(order, query_state, size):
    """States of two LSTMs: h, c, h, c."""
    cell = AttentionCell(
        stacked(), ka.BahdanauAttention(4), order, query_state=query_state
    )
    cell.build((2, 6), (2, 7, 8))
    assert cell.attention.score.W.shape == (size, 4)
    asked = []
    cell.attention.recall = lambda query, memory, state, position: (
        asked.append(query)
        or (ops.zeros((2, 1, 8)), ops.zeros((2, 1, 7)), state)
    )
    memory = cell.attention.remember(ops.ones((2, 7, 8)))
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(2, n)).astype("float32") for n in (3, 3, 5, 5)]
    before = cell.initial_state(memory, states)
    _, _, after = cell.step(ops.ones((2, 6)), before, memory)
    chosen = before if order == "bahdanau" else after
    flat = keras.tree.flatten(chosen["cell"])
    numbers = {None: (2,), 0: (0,), 3: (3,)}.get(query_state, query_state)
    expected = np.concatenate([flat[n] for n in numbers], axis=-1)
    np.testing.assert_allclose(asked[0][:, 0], expected, rtol=1e-6)


def test_what_is_fed():
    for units, size in ((None, 8), (4, 4)):
        cell = AttentionCell(
            keras.layers.GRUCell(5),
            ka.BahdanauAttention(4),
            units=units,
            input_feeding=True,
        )
        cell.build((2, 6), (2, 7, 8))
        assert cell.cell.kernel.shape[0] == 6 + size
        assert cell.output_size == (units or 8 + 5)


def test_activation():
    cell = AttentionCell(
        keras.layers.GRUCell(5),
        ka.BahdanauAttention(4),
        units=4,
        activation=None,
    )
    cell.build((2, 6), (2, 7, 8))
    cell.W.assign(100.0 * ops.ones_like(cell.W))
    memory = cell.attention.remember(ops.ones((2, 7, 8)))
    h, _, _ = cell.step(ops.ones((2, 6)), cell.initial_state(memory), memory)
    assert float(ops.max(h)) > 10.0


def test_config_round_trip():
    cell = AttentionCell(
        stacked(),
        ka.MonotonicAttention(mode="hard"),
        "bahdanau",
        units=4,
        activation="relu",
        input_feeding=True,
        query_state=[0, 2],
    )
    again = AttentionCell.from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    assert again.attention.mode == "hard"
    assert again.query_state == (0, 2)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"attention": ka.FeedForwardAttention()}, "`attention` must be an"),
        ({"order": "post"}, "`order` must be 'luong' or 'bahdanau'"),
        ({"units": 0}, "`units` must be a positive integer"),
        ({"activation": "none"}, "`activation` must be .*='none'"),
        ({"input_feeding": 1}, "`input_feeding` must be True or False"),
        ({"query_state": -1}, "`query_state` must be a non-negative integer"),
    ],
)
def test_bad_arguments(arguments, message):
    given = {"attention": ka.LuongAttention(), **arguments}
    with pytest.raises(ValueError, match=message):
        AttentionCell(keras.layers.GRUCell(3), **given)


def test_initial_state_has_every_state_of_the_cell():
    cell = AttentionCell(keras.layers.LSTMCell(3), ka.LuongAttention())
    cell.build((2, 6), (2, 7, 8))
    memory = cell.attention.remember(ops.ones((2, 7, 8)))
    with pytest.raises(ValueError, match="must hold the 2 states of the cell"):
        cell.initial_state(memory, [ops.zeros((2, 3))])
