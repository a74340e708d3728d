import json
import re
import signal
import sys
from types import SimpleNamespace

import keras
import keras_tuner
import numpy as np
import pytest
import tune_classifier
from numpy.testing import assert_allclose
from tune_classifier import (
    LANGUAGES,
    MECHANISMS,
    TUNERS,
    Names,
    SearchState,
    build_model,
    check_completed,
    concepts,
    describe,
    fit_vectorizer,
    load_names,
    majority_accuracy,
    require_extras,
    to_characters,
)

import keras_attention as ka

# Keras's way of reading variables, and keras-tuner's of naming its threads.
pytestmark = [
    pytest.mark.filterwarnings("ignore:__array__ impl:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:currentThread:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:getName:DeprecationWarning"),
]
QUICK = ("--quick", "--epochs=1")


@pytest.fixture(scope="module")
def names():
    return load_names()


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    return request.param


def hyperparameters(mechanism):
    hp = keras_tuner.HyperParameters()
    hp.values["mechanism"] = mechanism
    return hp


# The names


def test_every_language_is_in_every_part(names):
    assert list(names) == ["train", "validation", "test"]
    for part in names.values():
        assert set(part.languages) == set(range(len(LANGUAGES)))


def test_there_are_thousands_of_names(names):
    counts = {part: len(n.texts) for part, n in names.items()}
    assert sum(counts.values()) > 7000
    assert counts["train"] > 2 * counts["test"]


def test_no_name_is_there_twice(names):
    texts = [text for part in names.values() for text in part.texts]
    assert len(set(texts)) == len(texts)


def test_names_have_their_language(names):
    languages = {
        text: LANGUAGES[language]
        for part in names.values()
        for text, language in zip(part.texts, part.languages, strict=True)
    }
    assert languages["allemagne"] == "fr"
    assert languages["niemcy"] == "pl"
    assert "saksa" not in languages, "Germany in both Finnish and Estonian"


def test_a_concept_is_in_one_part_in_all_languages(names):
    part_of = {text: part for part, n in names.items() for text in n.texts}
    parts: dict[str, set[str]] = {}
    named_twice = set()
    for language in LANGUAGES:
        seen = set()
        for concept, name in concepts(language):
            if name in seen:
                named_twice.add(name)
            seen.add(name)
            if name in part_of and name not in named_twice:
                parts.setdefault(concept, set()).add(part_of[name])
    assert {len(found) for found in parts.values()} == {1}


def test_names_are_the_same_every_time(names):
    again = load_names()
    for part in names:
        assert again[part].texts == names[part].texts


def test_characters_are_padded_with_zeros_to_one_length():
    names = Names(["Año", "x" * 50], np.array([0, 1]))
    vectorizer = fit_vectorizer(["año"])
    characters, languages = to_characters(vectorizer, names)
    assert characters.shape == (2, 32)
    assert (characters[0, :3] > 1).all(), "known, upper case or not"
    assert not characters[0, 3:].any()
    assert (characters[1] == 1).all(), "unknown"


def test_names_are_taken_in_whole_batches():
    names = Names(["a"] * 1500, np.zeros(1500))
    assert len(names.take(1).texts) == 1408
    assert len(names.take(10).languages) == 128


def test_majority_is_that_of_the_training_names():
    train = Names(["a", "b", "c"], np.array([4, 4, 1]))
    test = Names(["d", "e", "f", "g"], np.array([4, 1, 1, 2]))
    assert majority_accuracy(train, test) == 0.25


# The search space


def test_model_classifies_whatever_the_mechanism(mechanism):
    model = build_model(hyperparameters(mechanism), alphabet_size=30)
    characters = np.random.default_rng(0).integers(1, 30, (4, 9))
    probabilities = model(characters)
    assert probabilities.shape == (4, len(LANGUAGES))
    assert_allclose(keras.ops.sum(probabilities, axis=-1), 1, atol=1e-5)


def test_padding_is_invisible(mechanism):
    model = build_model(hyperparameters(mechanism), alphabet_size=30)
    characters = np.random.default_rng(0).integers(1, 30, (4, 9))
    padded = np.pad(characters, ((0, 0), (0, 5)))
    assert_allclose(model(padded), model(characters), atol=1e-5)


def test_options_depend_on_their_mechanism_and_bear_its_name():
    hp = keras_tuner.HyperParameters()
    for mechanism in MECHANISMS:
        hp.values["mechanism"] = mechanism
        build_model(hp, alphabet_size=30)
    always = {"embedding", "units", "mechanism", "dropout", "learning_rate"}
    for option in hp.space:
        if option.name not in always:
            (condition,) = option.conditions
            assert condition.name == "mechanism"
            (mechanism,) = condition.values
            assert option.name.startswith(f"{mechanism}_")
    option_names = [option.name for option in hp.space]
    assert len(set(option_names)) == len(option_names)


@pytest.mark.parametrize(
    "mechanism, layer, options",
    [
        ("self_attentive", "SelfAttentiveEmbedding", ("hops", "units")),
        ("multi_head", "MultiHeadAttention", ("num_heads", "key_dim")),
        ("bahdanau", "BahdanauAttention", ("units", "normalize")),
        ("squeeze_excitation", "SequenceSqueezeExcitation", ("ratio",)),
    ],
)
def test_layers_are_built_with_the_recorded_options(mechanism, layer, options):
    hp = hyperparameters(mechanism)
    chosen = {
        f"{mechanism}_{option.removeprefix('num_')}": value
        for option, value in zip(options, LAST_CHOICES[mechanism], strict=True)
    }
    hp.values.update(chosen)
    model = build_model(hp, alphabet_size=30)
    (built,) = [x for x in model.layers if type(x).__name__ == layer]
    config = built.get_config()
    for option, value in zip(options, LAST_CHOICES[mechanism], strict=True):
        assert config[option] == value
    assert {name: hp.values[name] for name in chosen} == chosen


@pytest.mark.parametrize(
    "name, score",
    [
        ("dot", ka.DotScore),
        ("general", ka.BilinearScore),
        ("concat", ka.AdditiveScore),
    ],
)
def test_luong_s_score_is_the_recorded_one(name, score):
    hp = hyperparameters("luong")
    hp.values["luong_score"] = name
    model = build_model(hp, alphabet_size=30)
    (built,) = [x for x in model.layers if isinstance(x, ka.LuongAttention)]
    assert isinstance(built.score, score)


LAST_CHOICES = {
    "self_attentive": (6, 32),
    "multi_head": (4, 16),
    "bahdanau": (32, True),
    "squeeze_excitation": (8,),
}


# Trials


def trial(status="COMPLETED", message=None, **values):
    return SimpleNamespace(
        trial_id="3",
        status=status,
        message=message,
        hyperparameters=SimpleNamespace(values=values),
    )


def tuner_with(*trials):
    oracle = SimpleNamespace(trials=dict(enumerate(trials)))
    return SimpleNamespace(oracle=oracle)


def test_a_trial_is_described_by_the_options_of_its_mechanism_alone():
    described = describe(
        trial(mechanism="luong", luong_score="dot", bahdanau_units=16, units=4)
    )
    assert described == "luong score=dot"


def test_completed_trials_pass():
    check_completed(tuner_with(trial(), trial()))


def test_failed_trials_end_the_program_with_their_messages(capfd):
    with pytest.raises(SystemExit) as ended:
        check_completed(tuner_with(trial(), trial("FAILED", "out of memory")))
    assert ended.value.code == 1
    errors = capfd.readouterr().err
    assert "trial 3: FAILED\nout of memory" in errors


def test_a_search_whose_trials_all_fail_says_why(tmp_path, monkeypatch, capfd):
    def broken(*arguments, **keywords):
        raise ArithmeticError("broken on purpose")

    monkeypatch.setattr(keras.Model, "fit", broken)
    with pytest.raises(SystemExit) as ended:
        tune_classifier.main([*QUICK, "--trials=4", f"--output={tmp_path}"])
    assert ended.value.code == 1
    printed = capfd.readouterr()
    assert printed.out.count("FAILED") == 4
    assert printed.err.count("ArithmeticError: broken on purpose") >= 4


# The state of a search


@pytest.fixture
def state(tmp_path):
    state = SearchState(tmp_path / "random")
    for name in ("oracle.json", "tuner0.json", "trial_0/trial.json"):
        path = state.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the {name}")
    return state


def test_state_survives_files_cut_off_in_the_middle(state):
    state.keep()
    (state.project / "oracle.json").write_text("")
    (state.project / "trial_0" / "trial.json").unlink()
    assert state.restore()
    for name in ("oracle.json", "tuner0.json", "trial_0/trial.json"):
        assert (state.project / name).read_text() == f"the {name}"


def test_trials_begun_since_are_removed_and_weights_stay(state):
    (state.project / "trial_0" / "weights").touch()
    state.keep()
    (state.project / "trial_1").mkdir()
    (state.project / "trial_1" / "trial.json").touch()
    assert state.restore()
    assert not (state.project / "trial_1").exists()
    assert (state.project / "trial_0" / "weights").exists()


def test_nothing_kept_is_nothing_restored(state):
    assert not state.restore()
    state.keep()
    state.forget()
    assert not state.restore()


# The command line


@pytest.mark.parametrize("missing", ["tensorboard", "keras_tuner", "babel"])
def test_a_missing_extra_ends_with_one_line(missing, monkeypatch, capfd):
    find = tune_classifier.require.__globals__["importlib"].util.find_spec

    def find_all_but_one(name):
        return None if name == missing else find(name)

    monkeypatch.setattr("importlib.util.find_spec", find_all_but_one)
    with pytest.raises(SystemExit) as ended:
        require_extras()
    assert ended.value.code == 2
    message = capfd.readouterr().err
    assert message.count("\n") == 1
    assert missing in message
    assert "pip install" in message


@pytest.mark.parametrize(
    "argument",
    ["--trials=0", "--epochs=-1", "--seed=0", "--output={file}/folder"],
)
def test_a_bad_argument_ends_with_one_line(argument, tmp_path, capfd):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as ended:
        tune_classifier.main([argument.format(file=tmp_path / "file")])
    assert ended.value.code == 2
    assert capfd.readouterr().err.count("\n") == 1


def statuses(folder):
    return [
        json.loads(path.read_text())["status"]
        for path in sorted(folder.glob("*/trial_*/trial.json"))
    ]


def test_quick_search_completes_and_its_best_model_reloads(tmp_path, capfd):
    tune_classifier.main([*QUICK, "--trials=2", f"--output={tmp_path}"])
    printed = capfd.readouterr().out
    assert statuses(tmp_path) == ["COMPLETED"] * 2
    (best,) = re.findall(r"([\d.]+)%  best model", printed)
    (again,) = re.findall(r"([\d.]+)%  .*loaded again", printed)
    assert best == again
    assert "majority class" in printed


@pytest.mark.slow
@pytest.mark.parametrize("tuner", TUNERS)
def test_every_tuner_completes_all_trials(tuner, tmp_path, run_example):
    status, output, errors = run_example(
        "tune_classifier.py",
        *("--quick", "--epochs=3", "--trials=6"),
        *(f"--tuner={tuner}", f"--output={tmp_path}"),
    )
    assert (status, errors) == (0, "")
    assert set(statuses(tmp_path)) == {"COMPLETED"}
    assert "loaded again" in output


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "interruption, status",
    [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_an_interrupted_search_is_resumed(
    interruption, status, tmp_path, start_example, run_example
):
    arguments = (
        "tune_classifier.py",
        *(*QUICK, "--trials=4", f"--output={tmp_path}"),
    )
    process = start_example(*arguments)
    while not process.stdout.readline().startswith("trial 1"):
        assert process.poll() is None
    process.send_signal(interruption)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert errors == ""
    # What an interruption leaves when it meets keras-tuner while it writes.
    (tmp_path / "random" / "oracle.json").write_text("{")
    finished = {
        path: path.read_text()
        for path in tmp_path.glob("random/trial_[01]/trial.json")
    }
    assert len(finished) == 2

    status, output, errors = run_example(*arguments, "--resume")
    assert (status, errors) == (0, "")
    ended = re.findall(r"^trial (\d)  COMPLETED", output, re.MULTILINE)
    assert ended == ["2", "3"]
    for path, text in finished.items():
        assert path.read_text() == text
    assert statuses(tmp_path) == ["COMPLETED"] * 4


@pytest.mark.slow
def test_default_search_beats_the_majority_by_far(tmp_path, run_example):
    status, output, errors = run_example(
        "tune_classifier.py", f"--output={tmp_path}"
    )
    assert (status, errors) == (0, "")
    assert set(statuses(tmp_path)) == {"COMPLETED"}
    (majority,) = re.findall(r"([\d.]+)%  majority", output)
    (best,) = re.findall(r"([\d.]+)%  best model", output)
    assert float(majority) < 10
    assert float(best) > 50
