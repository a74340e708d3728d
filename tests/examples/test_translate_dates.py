import datetime
import json
from collections import defaultdict
from itertools import product

import keras
import numpy as np
import pytest
import translate_dates
from dates import report, scoring, vocabulary
from dates.decode_saved_model import typed
from dates.network import LENGTHS, new_model, pairs
from dates.readings import YEARS, Readings
from dates.settings import Settings
from dates.strings import DateString, all_days, draw
from dates.styles import LOCALES, Style, styles
from dates.translator import Translator
from dates.vocabulary import ISO
from sequences.run import Run, read_json, write_json
from sequences.splitting import split

SMALL = Settings(units=8, embedding=4)
QUICK = (
    *("--train-strings", 2000, "--test-strings", 100, "--units", 16),
    *("--embedding", 8),
)
# Of which each number can be a day, a month and the end of a year.
TANGLED_DAYS = [
    datetime.date(2000 + year, month, day)
    for year, month, day in product((3, 5, 11), repeat=3)
]


@pytest.fixture(scope="module")
def readings():
    return Readings(styles())


@pytest.fixture(scope="module")
def characters(readings):
    return vocabulary.characters(vocabulary.names(readings.characters))


@pytest.fixture
def translator(characters):
    return Translator(new_model(SMALL, characters), characters, 1)


def found_dates(readings, text):
    return sorted(day.isoformat() for day in readings.dates(typed(text)))


@pytest.mark.parametrize(
    "text",
    [
        "2. März 2016",
        "MARCH 2ND, 2016",
        "2nd of March 2016",
        "mercredi 2 mars 2016",
        "2016年3月2日星期三",
        "2016. 3. 2.",
        "2 มีนาคม ค.ศ. 2016",
        "Среда, 2 марта 2016\u202fг.",
        "٢ مارس ٢٠١٦",
        "2016-03-02",
    ],
)
def test_a_date_in_many_languages(readings, text):
    assert found_dates(readings, text) == ["2016-03-02"]


def test_the_same_month_name_is_another_month_elsewhere(readings):
    assert found_dates(readings, "5 listopada 2016") == ["2016-11-05"]
    assert found_dates(readings, "5. listopada 2016.") == ["2016-10-05"]


def test_numbers_in_an_unclear_order_have_several_dates(readings):
    assert found_dates(readings, "03/02/16") == [
        "2003-02-16",
        "2016-02-03",
        "2016-03-02",
    ]
    assert found_dates(readings, "3/2/2016") == ["2016-02-03", "2016-03-02"]
    assert found_dates(readings, "27/3/2016") == ["2016-03-27"]


def test_two_digits_are_the_one_year_of_the_range(readings):
    assert len(YEARS) < 100
    for text, iso in [("13/31/70", []), ("12/31/70", ["1970-12-31"])]:
        assert found_dates(readings, text) == iso
    assert found_dates(readings, "31/12/29") == ["2029-12-31"]
    assert found_dates(readings, "31/12/30") == []  # 2030 and 1930 are outside.


def test_no_string_with_one_date_is_ever_written_for_another(readings):
    """All strings of days whose numbers can stand for one another."""
    days_of = defaultdict(set)
    for style, day in product(readings.styles, TANGLED_DAYS):
        days_of[style.write(day)].add(day)
    assert sum(len(days) > 1 for days in days_of.values()) > 30
    for text, days in days_of.items():
        assert days <= readings.dates(text)


def test_numbers_of_another_kind_leave_a_style_out(readings):
    monday = datetime.date(2016, 3, 21)
    weekday_has_a_number = Style("vi", "E, d MMM, y")
    assert weekday_has_a_number.write(monday) == "thứ 2, 21 thg 3, 2016"
    assert weekday_has_a_number not in readings.styles
    assert {style.locale for style in readings.styles} == set(LOCALES)


def test_every_style_writes_what_can_be_read_and_learned(readings, characters):
    longest = 0
    for style in readings.styles:
        for iso in ("1970-01-31", "2008-02-29", "2029-12-03", "1999-09-14"):
            day = datetime.date.fromisoformat(iso)
            text = style.write(day)
            assert day in readings.dates(text)
            characters.encode(text)
            longest = max(longest, len(text))
    assert longest <= LENGTHS[-1][0]


def test_english_ordinals():
    style = Style("en_GB", "d'{th}' MMMM y")
    written = [
        style.write(datetime.date(2016, 1, day)).split()[0]
        for day in (1, 2, 3, 4, 11, 12, 13, 20, 21, 22, 23, 30, 31)
    ]
    assert (
        written
        == (
            "1st 2nd 3rd 4th 11th 12th 13th 20th 21st 22nd 23rd 30th 31st"
        ).split()
    )


def test_a_language_writes_its_own_digits():
    day = datetime.date(2016, 3, 2)
    assert Style("fa", "y/M/d").write(day) == "۲۰۱۶/۳/۲"
    assert Style("mr", "d/M/y").write(day) == "२/३/२०१६"
    assert Style("hi", "d/M/y").write(day) == "2/3/2016"


def test_typed_has_small_letters_plain_spaces_and_nothing_invisible():
    assert typed(" 2\u202fMARS\u200f  2016 ") == "2 mars 2016"
    assert typed("e\u0301") == "\u00e9"


def test_the_split_is_by_day():
    days = all_days()
    assert (days[0], days[-1], len(days)) == ("1970-01-01", "2029-12-31", 21915)
    sides = split(days)
    assert sorted(day for side in sides.values() for day in side) == days
    assert {side: len(sides[side]) for side in sides} == {
        "train": 19367,
        "dev": 422,
        "test": 2126,
    }


def test_drawn_strings_have_one_date_each_of_the_days(readings):
    days = all_days()[::1000]
    strings = draw(readings, days, 500, seed=0)
    assert 300 < len(strings) <= 500
    assert len({text for text, _, _ in strings}) == len(strings)
    assert {iso for _, iso, _ in strings} == set(days)
    for text, iso, language in strings:
        assert found_dates(readings, text) == [iso]
        day = datetime.date.fromisoformat(iso)
        assert text in {
            style.write(day)
            for style in readings.styles
            if style.language == language
        }
    assert draw(readings, days, 500, seed=0) == strings
    assert draw(readings, days, 500, seed=1) != strings


def test_no_day_is_on_two_sides(readings):
    settings = Settings(train_strings=3000)
    strings = translate_dates.draw_all(readings, settings, 1000)
    days = {
        side: {string.iso for string in drawn}
        for side, drawn in strings.items()
    }
    assert min(map(len, days.values())) > 300
    assert not days["train"] & days["test"]
    assert not days["train"] & days["dev"]
    assert not days["dev"] & days["test"]


def test_all_that_there_is_can_be_drawn(readings):
    strings = draw(readings, ["2016-03-02"], 10**9, seed=0)
    assert 300 < len(strings) < len(readings.styles)


def test_pairs_are_characters_and_iso_dates(characters):
    [(source, target)] = pairs(
        [DateString("2 mars 2016", "2016-03-02", "French")], characters
    )
    assert "".join(characters.decode(source)) == "2 mars 2016"
    assert "".join(ISO.decode(target)) == "2016-03-02"


@pytest.mark.parametrize(
    "attention, order",
    [
        ("bahdanau", "luong"),
        *((name, "bahdanau") for name in translate_dates.CHOICES["attention"]),
    ],
)
def test_every_attention_translates(characters, attention, order):
    settings = Settings(attention, order, units=8, embedding=4)
    translator = Translator(new_model(settings, characters), characters, 2)
    weights = translator(["2 mars 2016"])["2 mars 2016"].weights
    assert weights.shape[1] == len("2 mars 2016")
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)


def test_hypotheses_are_the_beam_best_first(translator):
    text = "wednesday, 2 march 2016" + 40 * "."  # Longer than all it learned.
    (greedy,) = translator.hypotheses(text)
    assert greedy[0] == translator([text])[text].iso
    translator.beam = 4
    found = translator.hypotheses(text)
    isos, probabilities = zip(*found, strict=True)
    assert len(set(isos)) == 4
    assert list(probabilities) == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1 + 1e-5


def test_exact_match_in_all_and_by_language():
    strings = [
        DateString("a", "2016-03-02", "Greek"),
        DateString("b", "2016-03-03", "Greek"),
        DateString("c", "2016-03-04", "Irish"),
    ]
    isos = {"a": "2016-03-02", "b": "2016-01-03", "c": "2016-03-04"}
    assert str(scoring.exact(strings, isos)) == "66.67% (2 of 3)"
    assert scoring.by_language(strings, isos) == [
        ("Greek", scoring.Match(1, 2)),
        ("Irish", scoring.Match(1, 1)),
    ]


def test_mistakes_are_shown_with_what_is_right(capsys):
    strings = [DateString("2 mars 2016", "2016-03-02", "French")]
    report.print_mistakes(strings, {"2 mars 2016": "2016-05-02"})
    shown = capsys.readouterr().out
    assert "2 mars 2016  (French)\n    is 2016-03-02, not 2016-05-02" in shown
    report.print_mistakes(strings, {"2 mars 2016": "2016-03-02"})
    assert "No mistakes" in capsys.readouterr().out


def test_the_picture_has_all_letters(translator, tmp_path):
    """Matplotlib warns of a letter that it has not: an error here."""
    report.draw(translator, "2016-03-02", tmp_path / "alignments.png")
    assert (tmp_path / "alignments.png").stat().st_size > 10_000


def test_a_saved_model_that_says_something_else_ends_the_program(
    monkeypatch, tmp_path, capfd
):
    monkeypatch.setattr(
        report.saved_model,
        "answers_without_keras",
        lambda run, texts: dict.fromkeys(texts, "2016-03-02"),
    )
    report.compare(Run(tmp_path), {"2 mars 2016": "2016-03-02"})
    assert "says the same for all 1 strings" in capfd.readouterr().out
    with pytest.raises(SystemExit) as ended:
        report.compare(Run(tmp_path), {"3 mars 2016": "2016-03-03"})
    assert ended.value.code == 1
    assert "other dates for 3 mars 2016" in capfd.readouterr().err


def error_line(capfd, *arguments):
    with pytest.raises(SystemExit) as ended:
        translate_dates.main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    output, errors = capfd.readouterr()
    assert errors.count("\n") == 1
    return errors


@pytest.fixture
def finished_run(tmp_path):
    """To the eye: its model is an empty file."""
    run = Run(tmp_path)
    run.model.touch()
    write_json(run.settings, {"units": 8})
    write_json(run.vocabulary, vocabulary.names("mars 0123456789"))
    return tmp_path


def test_a_missing_extra_is_one_line(capfd, monkeypatch):
    monkeypatch.setattr(translate_dates, "NEEDED", ("no_such_module",))
    assert "pip install" in error_line(capfd)


def test_no_trained_run_is_one_line(tmp_path, capfd):
    for asked in (("--translate", "2 mars 2016"), ("--resume",)):
        line = error_line(capfd, "--run", tmp_path, *asked)
        assert "no trained run" in line


def test_an_unwritable_folder_is_one_line(tmp_path, capfd):
    (tmp_path / "file").touch()
    line = error_line(capfd, "--run", tmp_path / "file" / "run")
    assert "cannot write" in line


@pytest.mark.parametrize(
    "text, told",
    [("2 mai 2016", "in '2 mai 2016', 'i' is not"), (" ", "no date in ' '")],
)
def test_what_is_no_date_is_one_line(finished_run, capfd, text, told):
    use = ("--run", finished_run, "--translate", "2 mars 2016", text)
    assert told in error_line(capfd, *use)


@pytest.mark.parametrize("fixed", ["--units=16", "--seed=2"])
def test_resume_refuses_another_model_and_other_data(
    finished_run, capfd, fixed
):
    line = error_line(capfd, "--run", finished_run, "--resume", fixed)
    assert "--resume continues a run with" in line


@pytest.mark.parametrize(
    "setting", ["--epochs=0", "--beam=0", "--test-strings=-1", "--dropout=1"]
)
def test_settings_that_make_no_sense_are_refused(setting, capfd):
    with pytest.raises(SystemExit):
        translate_dates.main([setting])
    assert setting.split("=")[0] in capfd.readouterr().err


@pytest.mark.slow
def test_train_export_resume_and_use(tmp_path, run_example):
    run = Run(tmp_path)
    use = ("--run", tmp_path)
    status, output, errors = run_example(
        "translate_dates.py", *use, "--epochs", 1, "--beam", 2, *QUICK
    )
    assert (status, errors) == (0, "")
    assert "99 languages and variants" in output
    assert "days that it has seen in no language" in output
    results = read_json(run.results)
    same = f"TensorFlow alone says the same for all {results['counted']} "
    assert same in output
    assert run.picture.exists()
    assert keras.models.load_model(run.model).name == "dates"

    status, output, errors = run_example(
        *("translate_dates.py", *use, "--epochs", 2, "--resume"),
        *("--test-strings", 20),
    )
    assert (status, errors) == (0, "")
    assert "Epoch 2/2" in output
    assert "Epoch 1/2" not in output

    status, output, errors = run_example(
        *("translate_dates.py", *use, "--beam", 3, "--translate"),
        *("2\u202fMars 2016", "3/2/16"),
    )
    assert (status, errors) == (0, "")
    rows = [line.split("\t") for line in output.splitlines()]
    assert [row[0] for row in rows] == 3 * ["2\u202fMars 2016"] + 3 * ["3/2/16"]
    assert json.loads(run.settings.read_text())["units"] == 16
