import functools
import gzip
import hashlib
import http.server
import json
import threading

import keras
import numpy as np
import pytest
import translate
from captions import multi30k, report, scoring
from captions.multi30k import DataError, SentencePair
from captions.network import new_model
from captions.settings import Settings
from captions.translator import Translator
from captions.vocabulary import Vocabulary, split, unknown_words
from numpy.testing import assert_allclose
from sequences.run import Run
from sequences.symbols import UNKNOWN, UNKNOWN_MARK

PAIRS = [
    SentencePair(("ein", "hund", "rennt"), ("a", "dog", "runs")),
    SentencePair(("ein", "mann", "rennt"), ("a", "man", "runs", ".")),
    SentencePair(("ein", "hund"), ("a", "dog", ".")),
]
VOCABULARY = Vocabulary.of(PAIRS)
SMALL = Settings(units=8, embedding=4)
FILES = {
    "train.lc.norm.tok.de": "ein hund rennt .\nder mann &apos;s hut\n",
    "train.lc.norm.tok.en": "a dog runs .\nthe man &apos;s hat\n",
    "val.lc.norm.tok.de": "ein mann .\n",
    "val.lc.norm.tok.en": "a man .\n",
    "test_2016_flickr.lc.norm.tok.de": "ein hut .\n",
    "test_2016_flickr.lc.norm.tok.en": "a hat .\n",
}


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data", FILES)


@pytest.fixture
def address(tmp_path, monkeypatch):
    """The folder of a server that stands for the public address."""
    folder = write(tmp_path / "served", FILES)
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        host = f"http://127.0.0.1:{server.server_port}"
        checksums = {
            name: hashlib.sha256(text.encode()).hexdigest()
            for name, text in FILES.items()
        }
        monkeypatch.setattr(multi30k, "ADDRESS", host)
        monkeypatch.setattr(multi30k, "CHECKSUMS", checksums)
        yield folder
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def test_pairs_are_read_in_their_order(data):
    assert multi30k.read(data, "train") == [
        (("ein", "hund", "rennt", "."), ("a", "dog", "runs", ".")),
        (("der", "mann", "'s", "hut"), ("the", "man", "'s", "hat")),
    ]
    assert multi30k.read(data, "dev")[0].english == ("a", "man", ".")
    assert multi30k.read(data, "test")[0].german == ("ein", "hut", ".")


def test_packed_files_are_read_as_plain_ones(data):
    expected = multi30k.read(data, "train")
    plain = data / "train.lc.norm.tok.en"
    packed = gzip.compress(plain.read_bytes())
    plain.with_name(plain.name + ".gz").write_bytes(packed)
    plain.unlink()
    assert multi30k.read(data, "train") == expected


def test_sentences_without_a_translation_are_refused(data):
    (data / "val.lc.norm.tok.en").write_text("a man .\na dog .\n")
    with pytest.raises(DataError, match="de has 1 sentences and .* has 2"):
        multi30k.read(data, "dev")


@pytest.mark.parametrize("name", ["val.lc.norm.tok.de", "val.lc.norm.tok.en"])
def test_what_is_no_text_is_refused(data, name):
    (data / name).unlink()
    (data / f"{name}.gz").write_bytes(gzip.compress(b"ein mann")[:-9])
    with pytest.raises(DataError, match=f"cannot read .*{name}"):
        multi30k.read(data, "dev")


def test_the_files_that_are_read_are_those_that_are_fetched():
    read = {
        f"{split}.lc.norm.tok.{code}"
        for split in multi30k.SPLITS.values()
        for code in ("de", "en")
    }
    assert set(multi30k.CHECKSUMS) == read
    assert multi30k.COMMIT in multi30k.ADDRESS


def test_a_download_fetches_what_is_missing(address, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    told = []
    multi30k.download(folder, told.append)
    assert {path.name: path.read_text() for path in folder.iterdir()} == FILES
    assert len(told) == len(FILES)

    (folder / "val.lc.norm.tok.de").unlink()
    multi30k.download(folder, told.append)
    assert len(told) == len(FILES) + 1


def test_another_file_than_expected_is_not_kept(address, tmp_path):
    (address / "train.lc.norm.tok.de").write_text("something else\n")
    with pytest.raises(DataError, match="SHA-256"):
        multi30k.download(tmp_path, lambda line: None)
    assert not list(tmp_path.glob("*train*"))


def test_a_file_that_was_there_is_checked_and_left_alone(address, data):
    mine = data / "val.lc.norm.tok.en"
    mine.write_text("my own\n")
    with pytest.raises(DataError, match=f"{mine} is another file"):
        multi30k.download(data, lambda line: None)
    assert mine.read_text() == "my own\n"


def test_an_address_without_the_file_is_named(address, tmp_path):
    (address / "train.lc.norm.tok.de").unlink()
    with pytest.raises(DataError, match="cannot fetch http.*File not found"):
        multi30k.download(tmp_path, lambda line: None)


def test_a_word_is_known_if_it_is_seen_twice_the_most_frequent_first():
    assert VOCABULARY.german.names[4:] == ("ein", "hund", "rennt")
    assert VOCABULARY.english.names[4:] == ("a", "dog", "runs", ".")


def test_other_words_are_unknown():
    ids = VOCABULARY.german.encode(("ein", "mann", "hut"))
    assert ids == [4, UNKNOWN, UNKNOWN]
    sentences = [pair.german for pair in PAIRS]
    assert unknown_words(VOCABULARY.german, sentences) == ["mann"]
    assert VOCABULARY.pairs(PAIRS)[1] == ([4, 3, 6], [1, 4, 3, 6, 7, 2])


def test_a_vocabulary_comes_back_from_its_names():
    names = json.loads(json.dumps(VOCABULARY.names()))
    assert Vocabulary.of_names(names) == VOCABULARY


def test_a_sentence_is_split_into_small_words_and_marks():
    words = split("Ein Mann, der O'Neill heißt, rennt zur U-Bahn!")
    assert (
        " ".join(words) == "ein mann , der o'neill heißt , rennt zur u-bahn !"
    )


def test_bleu_is_of_the_tokens_as_they_are():
    same = scoring.bleu([pair.english for pair in PAIRS[1:2]], PAIRS[1:2])
    assert same.score == pytest.approx(100)
    assert "tok:none" in same.signature
    pair = SentencePair((), ("it", "'s", "a", "u-turn", "."))
    # If hyphens were split off, more of the tokens would be right.
    found = scoring.bleu([("it", "'s", "a", "u-boat", ".")], [pair])
    precisions = (4 / 5, 2 / 4, 1 / 3, 0.5 / 2)  # The last is smoothed.
    assert found.score == pytest.approx(100 * np.prod(precisions) ** 0.25)


def test_bleu_of_many_tokens_raises_no_doubts(caplog):
    pairs = 100 * PAIRS[1:2]
    scoring.bleu([pair.english for pair in pairs], pairs)
    assert not caplog.records


def test_an_unknown_word_of_a_reference_stays_what_it_is():
    pair = PAIRS[1]
    with_mark = tuple(
        UNKNOWN_MARK if word == "man" else word for word in pair.english
    )
    assert scoring.bleu([with_mark], [pair]).score < 60
    more = SentencePair(("ein", "hund"), ("one", "single", "dog"))
    unknown = scoring.unknown(VOCABULARY, [*PAIRS, more])
    assert unknown.german == pytest.approx(1 / 10)
    assert unknown.english == pytest.approx(3 / 13)
    assert str(unknown).startswith("10.0% of the German words")


@pytest.fixture(scope="module", params=["luong", "bahdanau"])
def translator(request):
    settings = Settings(attention=request.param, units=8, embedding=4)
    return Translator(new_model(settings, VOCABULARY), VOCABULARY, beam=3)


def test_a_model_has_the_order_that_is_asked(translator):
    cell = translator.model.decoder.cell
    names = {"luong": "LuongAttention", "bahdanau": "BahdanauAttention"}
    assert type(cell.attention).__name__ == names[cell.order]
    assert cell.input_feeding == (cell.order == "luong")


def test_each_sentence_gets_what_it_gets_alone(translator):
    sentences = [("ein", "hund", "rennt"), ("hund",), ("ein", "hut")]
    together = translator(sentences)
    assert list(together) == sorted(sentences, key=len)
    for german in sentences:
        found, alone = together[german], translator([german])[german]
        assert found.english == alone.english
        assert found.weights.shape[1] == len(german)
        assert_allclose(found.weights.sum(axis=1), 1, atol=1e-5)
        assert_allclose(found.weights, alone.weights, atol=1e-5)
        alignment = found.alignment(german)
        assert len(alignment.read) == len(german)


def test_no_translation_has_the_mark_of_unknown_words(translator):
    output = translator.model.decoder.output_layer.layers[-1]
    before = np.array(output.bias)
    output.bias.assign(20.0 * np.eye(len(before))[UNKNOWN])
    found = translator([("ein", "mann")])[("ein", "mann")]
    output.bias.assign(before)
    assert UNKNOWN_MARK not in found.english


def test_a_saved_model_that_translates_otherwise_ends_the_program(
    translator, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(report.saved_model, "export", lambda *a, **k: None)
    translations = translator([pair.german for pair in PAIRS])
    answers = {
        " ".join(german): " ".join(found.english)
        for german, found in translations.items()
    }
    monkeypatch.setattr(
        report.saved_model, "answers_without_keras", lambda run, asked: answers
    )
    given = (Run(tmp_path), translator, PAIRS, translations)
    report.check_export(*given)
    assert "translates 3 of 3 sentences" in capsys.readouterr().out
    answers["ein hund"] += " ."
    with pytest.raises(SystemExit) as ended:
        report.check_export(*given)
    assert ended.value.code == 1


def error_line(capfd, *arguments):
    with pytest.raises(SystemExit) as ended:
        translate.main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    output, errors = capfd.readouterr()
    assert errors.count("\n") == 1
    return errors


def test_a_missing_extra_is_one_line(capfd, monkeypatch):
    monkeypatch.setattr(translate, "NEEDED", ("no_such_module",))
    assert "pip install" in error_line(capfd)


def test_missing_data_are_one_line_and_nothing_is_fetched(
    tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr(multi30k, "_fetched", None)
    use = ("--data", tmp_path / "none", "--run", tmp_path / "run")
    line = error_line(capfd, *use)
    assert "no file train.lc.norm.tok.de" in line
    assert "--download" in line
    assert not list(tmp_path.iterdir())


def test_a_download_tells_the_licence(address, tmp_path, capfd):
    (address / "train.lc.norm.tok.de").write_text("something else\n")
    with pytest.raises(SystemExit) as ended:
        translate.main(["--download", "--data", str(tmp_path / "new")])
    assert ended.value.code == 2
    output, errors = capfd.readouterr()
    assert "non-commercial research and education" in output
    assert errors.count("\n") == 1
    assert "SHA-256" in errors


def test_no_trained_run_is_one_line(data, tmp_path, capfd):
    use = ("--data", data, "--run", tmp_path / "run")
    for asked in (("--translate", "ein hund"), ("--resume",)):
        assert "no trained run" in error_line(capfd, *use, *asked)


def test_resume_refuses_another_model(data, tmp_path, capfd):
    run = Run(tmp_path)
    run.settings.write_text(json.dumps({"attention": "luong"}))
    run.model.touch()
    use = ("--data", data, "--run", tmp_path, "--resume")
    line = error_line(capfd, *use, "--attention", "bahdanau")
    assert "attention=luong" in line


def made_up(count, seed):
    """Sentences of a language that English follows word by word."""
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 9, rng.integers(3, 8)) for _ in range(count)]
    return (
        "".join(" ".join(f"w{n}" for n in row) + " .\n" for row in rows),
        "".join(" ".join(f"x{n}" for n in row) + " .\n" for row in rows),
    )


@pytest.mark.slow
def test_the_command_from_data_to_a_translation(tmp_path, run_example):
    counts = {"train": 600, "val": 40, "test_2016_flickr": 50}
    files = {
        f"{split}.lc.norm.tok.{code}": text
        for seed, (split, count) in enumerate(counts.items())
        for code, text in zip(("de", "en"), made_up(count, seed), strict=True)
    }
    run = Run(tmp_path / "run")
    use = ("--data", write(tmp_path / "data", files), "--run", run.folder)
    small = ("--units", 32, "--embedding", 16, "--dropout", 0)
    status, output, errors = run_example(
        "translate.py", *use, *small, "--epochs", 2, "--test-pairs", 40
    )
    assert (status, errors) == (0, "")
    assert "600 training pairs" in output
    assert "40 sentences of test_2016_flickr" in output
    assert "tok:none" in output
    assert "of 40 sentences in the same way" in output
    assert run.picture.exists()
    results = json.loads(run.results.read_text())
    assert results["sentences"] == 40
    assert results["width"] == 5
    assert keras.models.load_model(run.model).name == "translate"

    status, output, errors = run_example(
        "translate.py", *use, "--epochs", 3, "--resume"
    )
    assert (status, errors) == (0, "")
    assert "Epoch 3/3" in output
    assert "Epoch 2/3" not in output

    status, output, errors = run_example(
        "translate.py", *use, "--translate", "W1 w2, w3."
    )
    assert (status, errors) == (0, "")
    assert output.startswith("w1 w2 , w3 .\t")
