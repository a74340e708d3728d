import csv

import adding_problem
import keras
import numpy as np
import pytest
from adding_problem import (
    PADDINGS,
    POOLINGS,
    TASKS,
    Result,
    batches,
    build_model,
    held_out_cases,
    longest_length,
    sequences,
    train,
    train_at_best_rate,
)
from numpy.testing import assert_allclose, assert_array_equal

# Keras's way of reading variables.
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ impl:DeprecationWarning"
)


@pytest.fixture(params=TASKS)
def task(request):
    return request.param


@pytest.fixture(params=POOLINGS)
def pooling(request):
    return request.param


def draw(task, shortest=50, count=200):
    return sequences(task, shortest, count, np.random.default_rng(0))


def lengths_of(inputs):
    """The last step is marked by the second -1 of the sequence."""
    ends = inputs[:, ::-1, 1] == -1
    return inputs.shape[1] - ends.argmax(axis=1)


# The sequences


def test_sequences_are_at_most_a_tenth_longer(task):
    inputs, targets = draw(task, shortest=50)
    lengths = lengths_of(inputs)
    assert inputs.shape == (200, 55, 2)
    assert targets.shape == (200, 1)
    assert lengths.min() == 50
    assert lengths.max() == 54


@pytest.mark.parametrize("shortest, longest", [(50, 55), (101, 112)])
def test_longest_length_is_rounded_up(shortest, longest):
    assert longest_length(shortest) == longest


def test_padding_is_zero(task):
    inputs, _ = draw(task)
    behind = np.arange(inputs.shape[1]) >= lengths_of(inputs)[:, np.newaxis]
    assert behind.any()
    assert not inputs[behind].any()


@pytest.mark.parametrize("shortest", [20, 50])
def test_two_steps_of_the_first_half_are_marked(task, shortest):
    inputs, _ = draw(task, shortest, count=2000)
    marked = inputs[:, :, 1] == 1
    assert_array_equal(marked.sum(axis=1), 2)
    assert marked[:, 1:10].any(axis=1).all()
    last = marked.shape[1] - 1 - marked[:, ::-1].argmax(axis=1)
    assert (last < np.maximum(lengths_of(inputs) // 2, 10)).all()


def test_first_and_last_step_are_marked_by_minus_one(task):
    inputs, _ = draw(task)
    assert_array_equal(inputs[:, 0, 1], -1)
    assert_array_equal((inputs[:, :, 1] == -1).sum(axis=1), 2)


@pytest.mark.parametrize(
    "task, low, target",
    [
        ("add", -1, lambda one, other: 0.5 + (one + other) / 4),
        ("multiply", 0, lambda one, other: one * other),
    ],
)
def test_target_is_made_of_the_two_marked_numbers(task, low, target):
    inputs, targets = draw(task)
    marked = inputs[inputs[:, :, 1] == 1][:, 0].reshape(-1, 2)
    assert_allclose(targets[:, 0], target(*marked.T), atol=1e-6)
    assert low <= inputs[:, :, 0].min() < low + 0.01
    assert 0.99 < inputs[:, :, 0].max() <= 1


def test_both_poolings_see_the_same_batches_and_never_a_test_case(task):
    first, again = batches(task, 50, seed=3), batches(task, 50, seed=3)
    for _ in range(2):
        assert_array_equal(next(first)[0], next(again)[0])
    tested, _ = held_out_cases(task, 50, seed=3)
    trained, _ = next(batches(task, 50, seed=3))
    assert len(tested) == 1000
    assert not (tested[0] == trained).all(axis=(1, 2)).any()


# The network


@pytest.mark.parametrize(
    "pooling, parameters", [("attention", 10_602), ("mean", 10_501)]
)
def test_network_has_as_many_parameters_as_in_the_paper(pooling, parameters):
    assert build_model(pooling).count_params() == parameters


def test_weights_start_normal_with_the_paper_s_deviation(pooling):
    kernels = [w for w in build_model(pooling).weights if w.ndim == 2]
    for kernel in kernels:
        fan_in = kernel.shape[0]
        size = keras.ops.convert_to_numpy(kernel).std() * fan_in**0.5
        assert size == pytest.approx(1, abs=4 / kernel.numpy().size ** 0.5)


@pytest.mark.parametrize("padding", PADDINGS)
def test_mean_network_computes_the_paper_s_equations(padding):
    model = build_model("mean", padding)
    inputs, _ = draw("add", count=3)

    def leaky(x):
        return np.where(x > 0, x, 0.01 * x)

    (W_xh, b_xh, W_cs, b_cs, W_sy, b_sy) = model.get_weights()
    h = leaky(inputs @ W_xh + b_xh)
    lengths = lengths_of(inputs) if padding == "masked" else [55] * 3
    c = np.stack(
        [
            steps[:length].mean(axis=0)
            for steps, length in zip(h, lengths, strict=True)
        ]
    )
    y = leaky(leaky(c @ W_cs + b_cs) @ W_sy + b_sy)
    assert_allclose(model(inputs), y, atol=1e-5)


def test_masked_padding_is_invisible(pooling):
    model = build_model(pooling, padding="masked")
    inputs, _ = draw("add", count=4)
    longer = np.pad(inputs, ((0, 0), (0, 7), (0, 0)))
    assert_allclose(model(longer), model(inputs), atol=1e-5)


# Training and the table


def result(**changes):
    settings = {
        "task": "multiply",
        "length": 1000,
        "pooling": "mean",
        "rate": 0.003,
        "updates": 2000,
        "accuracy": 1.0,
        "seconds": 1.0,
    }
    return Result(**{**settings, **changes})


@pytest.mark.parametrize(
    "changes, outcome",
    [
        ({}, "2"),
        ({"updates": 100}, "0.1"),
        ({"accuracy": 0.917}, "91.7 % after 2"),
    ],
)
def test_outcome_is_epochs_or_the_accuracy_reached(changes, outcome):
    assert result(**changes).outcome == outcome


@pytest.mark.parametrize(
    "length, paper", [(1000, "33"), (5000, "89.8 %"), (200, "-")]
)
def test_paper_s_figure_stands_beside_the_result(length, paper):
    assert result(length=length).paper == paper


def test_best_rate_is_the_one_that_needs_fewest_epochs(monkeypatch):
    needed = {0.01: None, 0.003: 4, 0.001: 3, 0.0003: 5}
    allowed = []

    def fake_train(task, length, pooling, rate, max_epochs, **settings):
        allowed.append(max_epochs)
        is_solved = needed[rate] is not None and needed[rate] <= max_epochs
        return None, result(
            rate=rate,
            updates=1000 * (needed[rate] if is_solved else max_epochs),
            accuracy=1.0 if is_solved else 0.9,
        )

    monkeypatch.setattr(adding_problem, "train", fake_train)
    _, best = train_at_best_rate(
        "add", 50, "mean", list(needed), 10, updates_per_epoch=1000
    )
    assert (best.rate, best.updates) == (0.001, 3000)
    assert allowed == [10, 10, 3, 2]


def test_no_rate_can_be_better_than_one_epoch(monkeypatch):
    tried = []

    def fake_train(task, length, pooling, rate, max_epochs, **settings):
        tried.append(rate)
        return None, result(rate=rate, updates=1000)

    monkeypatch.setattr(adding_problem, "train", fake_train)
    train_at_best_rate(
        "add", 50, "mean", [0.01, 0.003], 10, updates_per_epoch=1000
    )
    assert tried == [0.01]


def test_quick_run_prints_the_table_and_saves_models(tmp_path, capsys):
    adding_problem.main(
        ["--quick", "--task=add", "--lengths=20", f"--output={tmp_path}"]
    )
    printed = capsys.readouterr().out
    assert "paper" in printed
    assert printed.count("after 0.1") == 2
    with open(tmp_path / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["pooling"] for row in rows] == ["attention", "mean"]
    inputs, targets = held_out_cases("add", 20, seed=0)
    for row in rows:
        path = tmp_path / f"add_20_{row['pooling']}.keras"
        predictions = keras.models.load_model(path).predict(inputs, verbose=0)
        right = np.abs(predictions - targets) < 0.04
        assert right.mean() == pytest.approx(float(row["accuracy"]), abs=2e-3)


# The command line


@pytest.mark.parametrize(
    "argument", ["--lengths=19", "--max-epochs=0", "--output={file}/folder"]
)
def test_a_bad_argument_ends_with_one_line(argument, tmp_path, capfd):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        adding_problem.main([argument.format(file=tmp_path / "file")])
    assert ended.value.code == 2
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_attention_solves_both_tasks(task):
    _, reached = train_at_best_rate(
        task,
        50,
        "attention",
        [0.01, 0.003],
        max_epochs=6,
        updates_per_epoch=1000,
        padding="seen",
        seed=0,
    )
    assert reached.accuracy == 1.0


@pytest.mark.slow
def test_mean_is_slower_than_attention_at_multiplying():
    updates = {
        pooling: train(
            "multiply",
            100,
            pooling,
            rate=0.003,
            max_epochs=8,
            updates_per_epoch=1000,
            padding="seen",
            seed=0,
        )[1].updates
        for pooling in POOLINGS
    }
    assert updates["attention"] < updates["mean"]
