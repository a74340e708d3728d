import json

import pytest

from benchmarks import figures, plots
from benchmarks.cases import Case
from benchmarks.results import Results

FACTS = {"machine": {"keras": "3.15.1", "load": [0.1]}, "quick": False}


def row(steps, way="jit", **sides):
    return {"case": Case(steps=steps, way=way).key(), "sides": sides}


def test_the_file_is_written_after_each_row(tmp_path):
    results = Results("some", FACTS, tmp_path / "new")
    for count, steps in enumerate((4, 8), start=1):
        results.add(row(steps))
        written = json.loads((tmp_path / "new" / "some.json").read_text())
        assert len(written["rows"]) == count
        assert written["benchmark"] == "some"
    assert Case(steps=8, way="jit") in results
    assert Case(steps=8, way="eager") not in results


def test_resume_keeps_rows_of_the_same_machine_alone(tmp_path):
    Results("some", FACTS, tmp_path).add(row(4))
    busy = {**FACTS, "machine": {"keras": "3.15.1", "load": [9.0]}}
    later = Results("some", busy, tmp_path, resume=True)
    assert Case(steps=4, way="jit") in later
    other = {**FACTS, "machine": {"keras": "3.12.0", "load": [0.1]}}
    with pytest.raises(ValueError, match=r"keras 3\.15\.1, this is 3\.12\.0"):
        Results("some", other, tmp_path, resume=True)
    with pytest.raises(ValueError, match="--quick"):
        Results("some", FACTS | {"quick": True}, tmp_path, resume=True)


def test_plot_has_a_line_for_each_side(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    drawn = []
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, *_, **__: drawn.append(figure)
    )
    rows = [
        row(
            steps,
            way,
            ours={"seconds": {"median": steps / 1e3}, "peak_mebibytes": 9.0},
            keras={"error": "code -6"}
            if steps > 512
            else {"seconds": {"median": steps / 1e2}, "peak_mebibytes": 99.0},
        )
        for way in ("eager", "jit")
        for steps in (128, 512, 2048)
    ]
    assert plots.draw({"rows": rows}, tmp_path / "plots" / "some.png")
    (figure,) = drawn
    assert len(figure.axes) == 4  # Time and memory, in two ways.
    for axes in figure.axes:
        ours, keras = axes.lines
        assert (ours.get_label(), keras.get_label()) == ("ours", "keras")
        assert len(ours.get_xdata()) == 3 and len(keras.get_xdata()) == 2
        assert axes.get_xscale() == axes.get_yscale() == "log"


def test_one_length_is_no_plot(tmp_path):
    rows = [row(4, ours={"seconds": {"median": 1.0}})]
    assert not plots.draw({"rows": rows}, tmp_path / "some.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123456, "ms", "12.3"),
        (0.0009996, "ms", "1.00"),
        (1194.03, "", "1,190"),
        (1536.0, "GiB", "1.50"),
        (0.4219, "", "0.422"),
        (16384, "", "16,384"),
        (0.5, "inverse", "2.00"),
        (0.0, "", "0"),
    ],
)
def test_figures_are_shown_with_three_digits(value, unit, text):
    assert figures.shown(value, unit) == text
