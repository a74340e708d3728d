import csv
import json
import signal
import time

import keras
import numpy as np
import pronounce
import pytest
from keras import ops
from numpy.testing import assert_allclose, assert_array_equal
from pronouncing import batches, dictionary, picture, scoring, training
from pronouncing.decoding import Pronouncer
from pronouncing.dictionary import END, START, Vocabulary
from pronouncing.mechanisms import MECHANISMS
from pronouncing.network import step_by_step, training_model
from pronouncing.run import Run, Settings

WORDS = {
    "cab": [("K", "AE", "B")],
    "abc": [("EY", "B", "IY", "S", "IY")],
    "a": [("EY",), ("AH",)],
}
VOCABULARY = Vocabulary.of(WORDS)
QUICK = (
    *("--train-words", 600, "--test-words", 60, "--units", 16),
    *("--embedding", 8),
)


def small_model(attention="luong", layers=1):
    settings = Settings(
        attention=attention, units=8, embedding=4, layers=layers
    )
    return training_model(settings, VOCABULARY)


@pytest.fixture(scope="module")
def pronunciations():
    return dictionary.read_dictionary()


def test_a_word_has_all_its_variants_without_stress(pronunciations):
    assert pronunciations["tomato"] == [
        ("T", "AH", "M", "EY", "T", "OW"),
        ("T", "AH", "M", "AA", "T", "OW"),
    ]
    phonemes = Vocabulary.of(pronunciations).phonemes
    assert len(phonemes) == 39 + len(dictionary.MARKS)


def test_variants_that_differ_in_stress_alone_are_one(pronunciations):
    assert all(
        len(set(variants)) == len(variants)
        for variants in pronunciations.values()
    )


def test_the_split_is_a_partition_of_the_words(pronunciations):
    sides = dictionary.split(pronunciations)
    words = [word for side in sides.values() for word in side]
    assert sorted(words) == sorted(pronunciations)
    shares = {side: len(sides[side]) / len(words) for side in sides}
    assert shares == pytest.approx(
        {"train": 0.88, "dev": 0.02, "test": 0.10}, abs=0.005
    )


def test_the_split_is_fixed():
    """By the word alone: not by the process, its hash seed or the list."""
    words = ["apple", "banana", "cherry", "date", "griffon", "keras"]
    percents = [dictionary.fingerprint(word) % 100 for word in words]
    assert percents == [89, 45, 38, 72, 3, 25]
    assert dictionary.side("Griffon") == dictionary.side("griffon") == "test"


def test_the_order_within_a_side_does_not_depend_on_the_list():
    words = ["apple", "banana", "cherry", "date", "griffon", "keras"]
    assert dictionary.split(words) == dictionary.split(words[::-1])


def test_vocabulary_round_trip():
    ids = VOCABULARY.encode_phonemes(("K", "AE", "B"))
    assert (ids[0], ids[-1]) == (START, END)
    assert VOCABULARY.decode_phonemes(ids) == ("K", "AE", "B")
    assert VOCABULARY.decode_phonemes([*ids, END, 5]) == ("K", "AE", "B")
    letters = VOCABULARY.encode_word("CAB")
    assert [VOCABULARY.letters[index] for index in letters] == list("cab")


@pytest.mark.parametrize("word", ["cäb", "c b", "<padding>"])
def test_an_unknown_letter_is_named(word):
    with pytest.raises(dictionary.UnknownLetter, match="has the character"):
        VOCABULARY.encode_word(word)


def test_vocabulary_and_settings_survive_the_run_folder(tmp_path):
    settings = Settings(attention="local-m", train_words=None)
    Run(tmp_path).start(settings, VOCABULARY)
    assert Run(tmp_path).vocabulary() == VOCABULARY
    assert Run(tmp_path).settings() == settings


def test_batches_shift_the_phonemes_by_one():
    pairs = batches.pairs(WORDS, WORDS, VOCABULARY)
    ((letters, given), wanted) = next(iter(batches.Batches(pairs, 6)))
    assert letters.shape == (6, 8)
    assert given.shape == wanted.shape == (6, 9)
    assert_array_equal(given[:4, 0], START)
    assert_array_equal(
        given[:4, 1:], np.where(wanted == END, 0, wanted)[:4, :-1]
    )
    assert not given[4:].any()


def test_batches_hold_every_pair_once_whatever_its_length():
    pairs = [([1] * n, [START] + [3] * n + [END]) for n in range(1, 29)]
    loader = batches.Batches(pairs, 3, seed=0)
    for _ in range(2):
        drawn = list(loader)
        assert len(drawn) == len(loader)
        lengths = [row.sum() for (x, _), _ in drawn for row in x if row.any()]
        assert sorted(lengths) == list(range(1, 29))
        assert {x.shape[1] for (x, _), _ in drawn} == set(batches.LENGTHS)


def test_rows_of_padding_do_not_change_the_loss():
    pairs = batches.pairs(WORDS, WORDS, VOCABULARY)
    model = training.new_model(Settings(units=8), VOCABULARY)
    losses = []
    for size in (len(pairs), len(pairs) + 3):
        x, y = next(iter(batches.Batches(pairs, size)))
        losses.append(model.evaluate(list(x), y, size, verbose=0)[0])
    assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_word_counts_against_its_nearest_pronunciation():
    references = {
        "a": [("EY",), ("AH",)],
        "cab": [("K", "AE", "B")],
        "abc": [("EY", "B", "IY", "S", "IY"), ("AE", "B", "K")],
    }
    spoken = {
        "a": ("AH",),  # right: the second
        "cab": ("K", "AH", "B", "Z"),  # one replaced, one too many
        "abc": ("AE", "K"),  # one missing in the second
    }
    rates = scoring.error_rates(spoken, references)
    assert rates.phonemes == pytest.approx(3 / (1 + 3 + 3))
    assert rates.words == pytest.approx(2 / 3)
    assert rates.counted == 3


def test_straightness_of_a_diagonal_and_of_a_step_back():
    diagonal = scoring.straightness([np.eye(4)])
    assert (diagonal.forward, diagonal.sharpness) == (1.0, 1.0)
    back = scoring.straightness([0.5 * np.eye(3)[[0, 2, 1]]])
    assert (back.forward, back.sharpness) == (0.5, 0.5)


def test_verdict():
    assert scoring.verdict(("AH",), WORDS["a"]) == "right"
    assert scoring.verdict(("B",), WORDS["a"]) == "dictionary: EY or AH"


@pytest.mark.parametrize(
    "attention, layers", [*((name, 1) for name in MECHANISMS), ("luong", 2)]
)
def test_step_by_step_equals_teacher_forcing(attention, layers):
    trained = small_model(attention, layers)
    models = step_by_step(trained)
    pairs = batches.pairs(WORDS, WORDS, VOCABULARY)
    (letters, given), wanted = next(iter(batches.Batches(pairs, 4)))
    expected = ops.convert_to_numpy(trained([letters, given]))
    value, value_mask, *states = models.encoder(letters)
    for position, token in enumerate(given.T):
        where = np.full((4, 1), position, "int32")
        given_now = map(ops.convert_to_tensor, (token[:, None], where))
        logits, weights, _next, *states = models.step(
            [*given_now, value, value_mask, *states]
        )
        real = token != 0
        assert_allclose(
            ops.convert_to_numpy(logits)[real],
            expected[real, position],
            atol=1e-5,
        )
        assert not ops.convert_to_numpy(weights)[letters == 0].any()


def test_greedy_decoding_takes_the_most_probable_phoneme():
    """Fed back to the teacher-forced model, its choices are the maxima."""
    trained = small_model()
    spoken = Pronouncer(step_by_step(trained), VOCABULARY)(["cab", "a", "abc"])
    for word, (phonemes, weights) in spoken.items():
        letters = np.array([VOCABULARY.encode_word(word)])
        given = VOCABULARY.encode_phonemes(phonemes)[:-1]
        logits = trained([letters, np.array([given])])
        chosen = ops.convert_to_numpy(ops.argmax(logits[0], axis=-1))
        assert VOCABULARY.decode_phonemes(chosen) == phonemes
        assert weights.shape == (len(phonemes) + 1, len(word))
        assert_allclose(weights[: len(phonemes)].sum(axis=1), 1, atol=1e-5)


def test_the_picture_is_drawn(tmp_path):
    spoken = {
        word: (variants[0], np.full((len(variants[0]) + 1, len(word)), 0.5))
        for word, variants in WORDS.items()
    }
    picture.draw(spoken, "alignments", tmp_path / "alignments.png")
    assert (tmp_path / "alignments.png").stat().st_size > 10_000


def test_the_rate_falls_to_zero_by_the_last_step():
    model = training.new_model(Settings(units=8), VOCABULARY)
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


def test_the_last_minute_ends_the_training():
    model = training.new_model(Settings(units=8), VOCABULARY)
    schedule = training.Cosine(peak=1.0, steps=10**6, minutes=1.0)
    schedule.set_model(model)
    schedule.on_train_begin()
    schedule.started -= 30
    schedule.on_train_batch_begin(0)
    assert_allclose(model.optimizer.learning_rate.numpy(), 0.5, atol=1e-2)
    schedule.started -= 30
    schedule.on_train_batch_end(0)
    assert model.stop_training


def error_line(capfd, *arguments):
    with pytest.raises(SystemExit) as ended:
        pronounce.main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    output, errors = capfd.readouterr()
    assert errors.count("\n") == 1
    return errors


def test_a_missing_extra_is_one_line(capfd, monkeypatch):
    monkeypatch.setattr(pronounce, "NEEDED", ("no_such_module",))
    assert "pip install" in error_line(capfd)


def test_no_trained_run_is_one_line(tmp_path, capfd):
    for asked in (("--pronounce", "cab"), ("--resume",)):
        line = error_line(capfd, "--run", tmp_path, *asked)
        assert "no trained run" in line


def test_an_unwritable_folder_is_one_line(tmp_path, capfd):
    (tmp_path / "file").touch()
    line = error_line(capfd, "--run", tmp_path / "file" / "run")
    assert "cannot write" in line


def test_unknown_letters_and_files_are_one_line(tmp_path, capfd):
    Run(tmp_path).start(Settings(), VOCABULARY)
    Run(tmp_path).model.touch()
    use = ("--run", tmp_path)
    line = error_line(capfd, *use, "--pronounce", "naïve")
    assert "'naïve' has the character 'n'" in line
    (tmp_path / "words").write_text("\n")
    assert "no words" in error_line(capfd, *use, "--words", tmp_path / "words")
    assert "cannot read" in error_line(capfd, *use, "--words", tmp_path / "no")


def test_resume_refuses_another_model(tmp_path, capfd):
    Run(tmp_path).start(Settings(), VOCABULARY)
    Run(tmp_path).model.touch()
    line = error_line(
        capfd, "--run", tmp_path, "--resume", "--attention", "dot"
    )
    assert "attention=luong" in line


@pytest.mark.parametrize(
    "setting", ["--epochs=0", "--minutes=-1", "--dropout=1", "--units=x"]
)
def test_settings_that_make_no_sense_are_refused(setting, capfd):
    with pytest.raises(SystemExit):
        pronounce.main([setting])
    assert setting.split("=")[0] in capfd.readouterr().err


@pytest.mark.slow
def test_train_export_resume_and_use(tmp_path, run_example):
    run = Run(tmp_path)
    use = ("--run", tmp_path)
    status, output, errors = run_example(
        "pronounce.py", *use, "--epochs", 1, "--attention", "local-m", *QUICK
    )
    assert (status, errors) == (0, "")
    assert "phoneme error rate" in output
    assert "TensorFlow alone says the same for all 60 words" in output
    assert run.picture.exists()
    assert json.loads(run.results.read_text())["counted"] == 60
    assert keras.models.load_model(run.model).name == "pronounce"

    status, output, errors = run_example(
        "pronounce.py", *use, "--epochs", 2, "--resume", "--test-words", 60
    )
    assert (status, errors) == (0, "")
    assert "Epoch 2/2" in output
    assert "Epoch 1/2" not in output
    assert epochs(run) == [0, 1]

    (tmp_path / "words").write_text("keras\ntensor\n")
    status, output, errors = run_example(
        "pronounce.py", *use, "--words", tmp_path / "words", "--pronounce", "a"
    )
    assert (status, errors) == (0, "")
    said = [line.split("\t")[0] for line in output.splitlines()]
    assert said == ["a", "keras", "tensor"]


def epochs(run):
    with run.history.open(newline="") as file:
        return [int(row["epoch"]) for row in csv.DictReader(file)]


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_and_resume_continues(tmp_path, start_example):
    run = Run(tmp_path)
    use = ("--run", tmp_path, "--test-words", 60)
    process = start_example("pronounce.py", *use, "--epochs", 1000, *QUICK)
    deadline = time.monotonic() + 300
    while not run.model.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    assert "keeping the best weights so far" in output
    assert "phoneme error rate" in output
    done = epochs(run)[-1]

    process = start_example(
        "pronounce.py", *use, "--resume", "--epochs", done + 2
    )
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    assert f"Epoch {done + 2}/{done + 2}" in output
    assert "Epoch 1/" not in output
