import argparse
import dataclasses

import keras
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sequences import alignments, network, saved_model, settings, training
from sequences.batches import Batches
from sequences.generating import generated
from sequences.learning import learn_pairs
from sequences.run import Run, read_json, write_json
from sequences.splitting import fingerprint, side, split
from sequences.symbols import END, START, Symbols, UnknownSymbol

import keras_attention as ka

LETTERS = Symbols.of("abc")
LENGTHS = ((4, 3), (8, 6))
PAIRS = [
    (LETTERS.encode("abc"), LETTERS.marked("cb")),
    (LETTERS.encode("a"), LETTERS.marked("abca")),
    (LETTERS.encode("abcab"), LETTERS.marked("a")),
]


@pytest.fixture
def model():
    keras.utils.set_random_seed(0)
    sizes = network.Sizes(len(LETTERS), len(LETTERS), 8, units=4, embedding=4)
    attention = ka.BahdanauAttention(4)
    model = network.encoder_decoder(sizes, attention, "bahdanau", "letters")
    return training.compiled(model, 0.01)


def test_symbols_there_and_back():
    ids = LETTERS.marked("cab")
    assert (ids[0], ids[-1]) == (START, END)
    assert LETTERS.decode(ids) == ("c", "a", "b")
    assert LETTERS.decode([*ids, END, 5]) == ("c", "a", "b")
    assert Symbols(LETTERS.names) == LETTERS


@pytest.mark.parametrize("name", ["d", "<padding>"])
def test_an_unknown_symbol_is_named(name):
    with pytest.raises(UnknownSymbol, match=name):
        LETTERS.encode([name])


def test_unknown_symbols_have_a_number_if_wanted():
    symbols = Symbols.of("ab", with_unknown=True)
    assert symbols.decode(symbols.encode("abz")) == ("a", "b", "<unknown>")


def test_the_split_is_fixed():
    """By the name alone: not by the process, its hash seed or the list."""
    names = ["apple", "banana", "cherry", "date", "griffon", "keras"]
    percents = [fingerprint(name) % 100 for name in names]
    assert percents == [89, 45, 38, 72, 3, 25]
    assert side("Griffon") == side("griffon") == "test"
    assert split(names) == split(names[::-1])


def test_batches_shift_the_target_by_one():
    ((source, given), wanted) = next(iter(Batches(PAIRS[:1], 2, LENGTHS)))
    assert_array_equal(source, [[3, 4, 5, 0], [0] * 4])
    assert_array_equal(given, [[START, 5, 4], [0] * 3])
    assert_array_equal(wanted, [[5, 4, END], [0] * 3])


def test_a_pair_is_padded_to_the_first_lengths_that_both_sides_fit():
    shapes = [
        (source.shape[1], given.shape[1])
        for pair in PAIRS
        for (source, given), _ in Batches([pair], 1, LENGTHS)
    ]
    assert shapes == [LENGTHS[0], LENGTHS[1], LENGTHS[1]]
    assert not len(Batches([([3] * 9, [START, END])], 1, LENGTHS))


def test_batches_hold_every_pair_once():
    rng = np.random.default_rng(0)
    pairs = [([n] * rng.integers(1, 9), [START, n, END]) for n in range(1, 40)]
    batches = Batches(pairs, 4, LENGTHS, seed=0)
    orders = []
    for _ in range(2):
        drawn = list(batches)
        assert len(drawn) == len(batches)
        firsts = [row[0] for (x, _), _ in drawn for row in x if row.any()]
        assert sorted(firsts) == list(range(1, 40))
        orders.append(firsts)
    assert orders[0] != orders[1]


def test_rows_of_padding_do_not_change_the_loss(model):
    losses = []
    for size in (len(PAIRS), len(PAIRS) + 3):
        x, y = next(iter(Batches(PAIRS, size, LENGTHS[1:])))
        losses.append(model.evaluate(x, y, size, verbose=0)[0])
    assert_allclose(losses[0], losses[1], rtol=1e-5)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("order", ["luong", "bahdanau"])
def test_a_network_reads_to_the_first_token_and_starts_there(order, layers):
    sizes = network.Sizes(9, 7, 5, 4, 3, layers)
    built = network.encoder_decoder(sizes, ka.LuongAttention(), order, "n")
    memory, *states = built.encoder(np.array([[5, 6, 0, 0], [5, 0, 0, 0]]))
    assert memory.shape == (2, 4, 4)
    assert len(states) == 2 * layers
    alone = built.encoder(np.array([[5, 6]]))
    for padded, whole in zip(states, alone[1:], strict=True):
        assert_allclose(padded[:1], whole, atol=1e-6)
    assert built.generate(np.array([[5, 6]])).tokens.shape == (1, 5)


def test_the_picture_is_drawn(tmp_path):
    drawn = [
        alignments.Alignment("ab", "abc"[:n], np.full((2, n), 0.5), "title")
        for n in (1, 2, 3, 2)
    ]
    alignments.draw(drawn, "alignments", tmp_path / "alignments.png")
    assert (tmp_path / "alignments.png").stat().st_size > 10_000


def test_the_rate_falls_to_zero_by_the_last_step(model):
    schedule = training.Cosine(peak=1.0, steps=4, minutes=1.0)
    schedule.set_model(model)
    schedule.on_train_begin()
    rates = []
    for batch in range(4):
        schedule.on_train_batch_begin(batch)
        rates.append(float(model.optimizer.learning_rate.numpy()))
        schedule.on_train_batch_end(batch)
    assert_allclose(rates, [1, 0.853553, 0.5, 0.146447], atol=1e-5)
    assert model.stop_training


def test_the_last_minute_ends_the_training(model):
    schedule = training.Cosine(peak=1.0, steps=10**6, minutes=1.0)
    schedule.set_model(model)
    schedule.on_train_begin()
    schedule.started -= 30
    schedule.on_train_batch_begin(0)
    assert_allclose(model.optimizer.learning_rate.numpy(), 0.5, atol=1e-2)
    schedule.started -= 30
    schedule.on_train_batch_end(0)
    assert model.stop_training


def test_a_training_goes_on_where_it_stopped(model, tmp_path, capsys):
    kept = Run(tmp_path)
    batches = Batches(PAIRS, 1, LENGTHS)
    for epochs in (1, 2, 2):
        schedule = training.Schedule(epochs, 1.0, 0.01)
        training.train(model, schedule, kept, batches, batches)
        model = keras.models.load_model(kept.latest)
    assert "Already trained" in capsys.readouterr().out
    lines = kept.history.read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch", "0", "1"]
    assert training.best_loss(kept.history) == min(
        float(line.split(",")[-1]) for line in lines[1:]
    )
    kept.clear()
    assert not list(tmp_path.iterdir())


@dataclasses.dataclass
class Quick:
    epochs: int = 1
    minutes: float = 1.0
    batch_size: int = 1
    learning_rate: float = 0.01
    seed: int = 0


def test_pairs_are_learned_anew_or_where_it_stopped(model, tmp_path, capfd):
    run, longest = Run(tmp_path), LENGTHS[-1:]
    learn_pairs(run, Quick(), lambda: model, PAIRS, PAIRS, longest)
    learn_pairs(run, Quick(epochs=2), None, PAIRS, PAIRS, longest)
    kept = keras.models.load_model(run.latest)
    assert int(kept.optimizer.iterations.numpy()) == 2 * len(PAIRS)
    run.clear()
    capfd.readouterr()
    spoilt = [np.full_like(w, np.nan) for w in model.get_weights()]
    model.set_weights(spoilt)
    with pytest.raises(SystemExit) as ended:
        learn_pairs(run, Quick(epochs=9), lambda: model, PAIRS, PAIRS, longest)
    assert ended.value.code == 2
    assert "lower --learning-rate" in capfd.readouterr().err


def test_dropout_of_what_the_decoder_reads_is_its_first_cells():
    sizes = network.Sizes(9, 7, 5, 4, 3, 2, dropout=0.2, input_dropout=0.1)
    built = network.encoder_decoder(sizes, ka.LuongAttention(), "luong", "n")
    cells = built.decoder.cell.cell.cells
    assert [cell.dropout for cell in cells] == [0.1, 0.2]


def test_what_is_generated_ends_with_its_end_in_the_order_asked(model):
    rows = [LETTERS.encode(text) for text in ("abcab", "a", "cab")]
    written = list(generated(model, rows, 2, 4, strategy="greedy"))
    assert len(written) == len(rows)
    for row, found in zip(rows, written, strict=True):
        alone = model.generate(np.array([row]))
        length = int(alone.lengths[0])
        assert_array_equal(found.tokens, alone.tokens[0, :length])
        assert END not in found.tokens[:-1]
        assert_allclose(found.weights, alone.alignments[0, :length], atol=1e-6)


@dataclasses.dataclass(frozen=True)
class Chosen:
    order: str = "luong"
    units: int = 8
    dropout: float = 0.0
    seed: int = 1


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    settings.add_options(parser, Chosen, {"order": ("luong", "bahdanau")})
    return parser.parse_args(arguments)


def test_options_replace_settings_that_are_given():
    options = parsed("--units=16", "--order", "bahdanau", "--seed=0")
    assert settings.chosen(options, Chosen()) == Chosen("bahdanau", 16, seed=0)
    assert settings.chosen(parsed(), Chosen(units=3)) == Chosen(units=3)


@pytest.mark.parametrize(
    "option", ["--units=0", "--units=x", "--dropout=1", "--order=other"]
)
def test_settings_that_make_no_sense_are_refused(option, capfd):
    with pytest.raises(SystemExit) as ended:
        parsed(option)
    assert ended.value.code == 2
    assert option.partition("=")[0] in capfd.readouterr().err


def test_a_resumed_run_keeps_what_is_fixed(capfd):
    options = parsed("--units=16", "--dropout=0.5")
    free = settings.resumed(options, Chosen(), fixed=("order",))
    assert free == Chosen(units=16, dropout=0.5)
    with pytest.raises(SystemExit):
        settings.resumed(options, Chosen(), fixed=("order", "units"))
    assert "a run with units=8" in capfd.readouterr().err


def test_a_cleared_run_keeps_no_result(tmp_path):
    run = Run(tmp_path)
    write_json(run.settings, dataclasses.asdict(Chosen()))
    assert Chosen(**read_json(run.settings)) == Chosen()
    for stale in (run.model, run.latest, run.history, run.results):
        stale.touch()
    run.saved_model.mkdir()
    run.clear()
    assert list(tmp_path.iterdir()) == [run.settings]


def test_answers_come_from_the_script_of_the_run(tmp_path):
    run = Run(tmp_path)
    run.decode_script.write_text(
        "import sys\n"
        "for line in sys.stdin.read().splitlines():\n"
        "    print(line, line.upper(), sep='\\t')\n",
    )
    answers = saved_model.answers_without_keras(run, ["für", "so"])
    assert answers == {"für": "FÜR", "so": "SO"}
    run.decode_script.write_text("raise SystemExit('no such model')")
    with pytest.raises(RuntimeError, match="no such model"):
        saved_model.answers_without_keras(run, ["so"])
