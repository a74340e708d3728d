import csv
import dataclasses
import json
import signal
import time

import keras
import numpy as np
import pronounce
import pytest
from keras import ops
from numpy.testing import assert_allclose
from pronouncing import dictionary, scoring
from pronouncing.dictionary import Vocabulary
from pronouncing.mechanisms import MECHANISMS
from pronouncing.network import LONGEST, new_model, pairs
from pronouncing.settings import Settings
from pronouncing.speaking import Pronouncer
from sequences.generating import search
from sequences.run import Run, read_json, write_json
from sequences.splitting import split
from sequences.symbols import MARKS

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


@pytest.fixture(scope="module")
def pronunciations():
    return dictionary.read_dictionary()


def test_a_word_has_all_its_variants_without_stress(pronunciations):
    assert pronunciations["tomato"] == [
        ("T", "AH", "M", "EY", "T", "OW"),
        ("T", "AH", "M", "AA", "T", "OW"),
    ]
    phonemes = Vocabulary.of(pronunciations).phonemes
    assert len(phonemes) == 39 + len(MARKS)


def test_variants_that_differ_in_stress_alone_are_one(pronunciations):
    assert all(
        len(set(variants)) == len(variants)
        for variants in pronunciations.values()
    )


def test_the_split_is_a_partition_of_the_words(pronunciations):
    sides = split(pronunciations)
    words = [word for side in sides.values() for word in side]
    assert sorted(words) == sorted(pronunciations)
    shares = {side: len(sides[side]) / len(words) for side in sides}
    assert shares == pytest.approx(
        {"train": 0.88, "dev": 0.02, "test": 0.10}, abs=0.005
    )


def test_vocabulary_round_trip():
    letters = VOCABULARY.encode_word("CAB")
    assert VOCABULARY.letters.decode(letters) == tuple("cab")
    phonemes = VOCABULARY.phonemes.marked(("K", "AE", "B"))
    assert VOCABULARY.phonemes.decode(phonemes) == ("K", "AE", "B")


@pytest.mark.parametrize("word", ["cäb", "c b", "<padding>"])
def test_an_unknown_letter_is_named(word):
    with pytest.raises(dictionary.UnknownLetter, match="knows abc"):
        VOCABULARY.encode_word(word)


def test_vocabulary_and_settings_survive_the_run_folder(tmp_path):
    settings = Settings(attention="local-m", train_words=None)
    write_json(tmp_path / "settings", dataclasses.asdict(settings))
    write_json(tmp_path / "vocabulary", VOCABULARY.names())
    assert Settings(**read_json(tmp_path / "settings")) == settings
    names = read_json(tmp_path / "vocabulary")
    assert Vocabulary.named(names) == VOCABULARY


@pytest.fixture
def model():
    return new_model(Settings(units=8, embedding=4), VOCABULARY)


def test_every_variant_of_a_word_is_learned():
    learned = pairs(WORDS, WORDS, VOCABULARY)
    assert [target for source, target in learned if len(source) == 1] == [
        VOCABULARY.phonemes.marked(["EY"]),
        VOCABULARY.phonemes.marked(["AH"]),
    ]
    assert len(learned) == 4


@pytest.mark.parametrize("attention", MECHANISMS)
def test_every_mechanism_speaks(attention):
    settings = Settings(attention=attention, units=8, embedding=4)
    spoken = Pronouncer(new_model(settings, VOCABULARY), VOCABULARY)(["cab"])
    weights = spoken["cab"].weights
    steps = min(len(spoken["cab"].phonemes) + 1, LONGEST)
    assert weights.shape == (steps, 3)
    assert ((weights >= 0) & (weights.sum(axis=1, keepdims=True) < 1.001)).all()


def test_greedy_takes_the_most_probable_phoneme(model):
    """Fed back to the teacher-forced model, its choices are the maxima."""
    spoken = Pronouncer(model, VOCABULARY)(["cab", "a", "abc"])
    for word, said in spoken.items():
        letters = np.array([VOCABULARY.encode_word(word)])
        given = VOCABULARY.phonemes.marked(said.phonemes)[:-1]
        logits = model([letters, np.array([given])])
        chosen = ops.convert_to_numpy(ops.argmax(logits[0], axis=-1))
        steps = len(said.phonemes)
        assert VOCABULARY.phonemes.decode(chosen)[:steps] == said.phonemes
        assert_allclose(said.weights[:steps].sum(axis=1), 1, atol=1e-5)


def test_a_beam_finds_what_is_at_least_as_probable(model):
    letters = [VOCABULARY.encode_word(word) for word in ("cab", "abc")]
    greedy, beam = (
        model.generate(np.array(letters), **search(width)) for width in (1, 8)
    )
    better = np.asarray(beam.log_probs) - np.asarray(greedy.log_probs)
    assert (better > -1e-5).all() and better.max() > 1e-3


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
    assert rates.token == pytest.approx(3 / (1 + 3 + 3))
    assert rates.sequence == pytest.approx(2 / 3)
    assert rates.sequences == 3


def test_straightness_of_a_diagonal_and_of_a_step_back():
    diagonal = scoring.straightness([np.eye(4)])
    assert (diagonal.forward, diagonal.sharpness) == (1.0, 1.0)
    back = scoring.straightness([0.5 * np.eye(3)[[0, 2, 1]]])
    assert (back.forward, back.sharpness) == (0.5, 0.5)


def test_verdict():
    assert scoring.verdict(("AH",), WORDS["a"]) == "right"
    assert scoring.verdict(("B",), WORDS["a"]) == "dictionary: EY or AH"


def pretend_trained(folder):
    run = Run(folder)
    write_json(run.settings, dataclasses.asdict(Settings()))
    write_json(run.vocabulary, VOCABULARY.names())
    run.model.touch()


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
    pretend_trained(tmp_path)
    use = ("--run", tmp_path)
    line = error_line(capfd, *use, "--pronounce", "naïve")
    assert "'naïve', 'n' is not among" in line
    (tmp_path / "words").write_text("\n")
    assert "no words" in error_line(capfd, *use, "--words", tmp_path / "words")
    assert "cannot read" in error_line(capfd, *use, "--words", tmp_path / "no")


def test_resume_refuses_another_model(tmp_path, capfd):
    pretend_trained(tmp_path)
    line = error_line(
        capfd, "--run", tmp_path, "--resume", "--attention", "dot"
    )
    assert "attention=bahdanau" in line


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
