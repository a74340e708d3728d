"""Figures that README and docs quote are those of the benchmarks' results."""

import html.parser
import json

import pytest

from benchmarks import quote, suites

every_page = pytest.mark.parametrize(
    "page", quote.pages(), ids=lambda page: page.stem
)

ROWS = [
    {
        "case": {"steps": steps, "way": way},
        "sides": {
            "ours": {"seconds": {"median": steps / 1e4}},
            "keras": {"peak_mebibytes": 3072.0},
            "torch": {"seconds": {"median": 0.5}} if steps == 512 else {},
        },
        "ratios": {"keras": {"median": 1.314, "largest": 9.0}},
    }
    for steps in (512, 2048)
    for way in ("eager", "jit")
]
RESULT = {
    "machine": {"tensorflow": "2.21.0", "cores": 2},
    "rows": ROWS,
    "summary": {"longest": {"dot": 16384}},
}

TABLE = """
<!-- table: some way=jit
T = case.steps
ours, ms = sides.ours.seconds ms
Keras, GiB = sides.keras.peak_mebibytes GiB
PyTorch, s = sides.torch.seconds
-->

| T | ours, ms | Keras, GiB | PyTorch, s |
| --- | --- | --- | --- |
| 512 | 51.2 | 3.00 | 0.500 |
| 2,048 | 205 | 3.00 | - |

<!-- end of table -->
"""


def refreshed(text):
    return quote.refreshed(text, {"some": RESULT}.__getitem__)


@every_page
def test_quoted_figures_are_the_results(page):
    text = page.read_text()
    assert quote.refreshed(text) == text, "run python -m benchmarks.quote"


@every_page
def test_every_figure_says_where_it_is_from(page):
    assert quote.unmarked(page.read_text()) == []


@pytest.mark.parametrize(
    "path", sorted(quote.RESULTS.glob("*.json")), ids=lambda p: p.stem
)
def test_results_say_what_they_were_made_by_and_on(path):
    result = json.loads(path.read_text())
    assert result["benchmark"] == path.stem and path.stem in suites.NAMES
    assert not result["quick"]
    for fact in ("processor", "cores", "load", "tensorflow", "keras", "date"):
        assert result["machine"][fact], fact


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("{}<!-- some steps=512 way=jit: ratios.keras -->", "1.31"),
        ("{}<!-- some steps=512 way=jit: ratios.keras.largest -->", "9.0"),
        ("{}<!-- some steps=2048 way=jit: sides.ours.seconds ms -->", "205"),
        (
            "{}<!-- some steps=512 way=jit: sides.keras.peak_mebibytes -->",
            "3,072",
        ),
        ("{}<!-- some steps=512 way=jit: ratios.keras inverse -->", "0.8"),
        ("{}<!-- some: summary.longest.dot -->", "16,384"),
        ("{}<!-- some: machine.tensorflow -->", "2.21.0"),
    ],
)
def test_a_figure_is_kept_if_right_and_mended_if_off(written, right):
    text = f"it is {written} times (so much)"
    assert refreshed(text.format(right)) == text.format(right)
    decimals = right.partition(".")[2]
    off = "7" + (f".{'7' * len(decimals)}" if decimals else "")
    assert refreshed(text.format(off)) == text.format(right)


def test_a_table_is_kept_if_right_and_mended_if_off():
    assert refreshed(TABLE) == TABLE
    assert refreshed(TABLE.replace("51.2", "51.1")) == TABLE
    assert refreshed(TABLE.replace("| 2,048 | 205 | 3.00 | - |\n", "")) == TABLE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.3<!-- some way=jit: ratios.keras -->", "2 rows"),
        ("1.3<!-- some way=magic: ratios.keras -->", "0 rows"),
        ("1.3<!-- some steps=512 way=jit: ratios.torch -->", "nothing"),
        ("fast<!-- some steps=512 way=jit: ratios.keras -->", "no figure"),
        ("1.3<!-- some steps=512, way=jit ratios.keras -->", "cannot read"),
    ],
)
def test_a_comment_that_names_no_figure_is_an_error(text, said):
    with pytest.raises(quote.QuoteError, match=said):
        refreshed(text)


@pytest.mark.parametrize(
    ("measure", "other"),
    [("sides.torch.seconds", "sides.torhc.seconds"), ("way=jit", "way=magic")],
)
def test_a_column_of_nothing_is_an_error(measure, other):
    with pytest.raises(quote.QuoteError, match="nothing is where"):
        refreshed(TABLE.replace(measure, other))


def test_a_benchmark_without_results_is_an_error():
    with pytest.raises(quote.QuoteError, match="multi_tail"):
        quote.refreshed("1<!-- multi_tail: rows -->")


@pytest.mark.parametrize(
    "figure", ["2.3 times", "120 MiB", "31 %", "0.5 s", "1,200ms", "2x"]
)
def test_a_figure_without_a_comment_is_found(figure):
    assert quote.unmarked(f"takes {figure} of it") == [figure]


@pytest.mark.parametrize(
    "text",
    [
        "takes 1.3<!-- some: rows --> times as long",
        "takes 1<!-- not measured --> GiB",
        "weighs at most e^2 times as much",
        "`sleep 2 s` and 3 steps",
        "```text\n16.0 MiB\n```\n",
        "Python 3.11 takes 2 arguments",
        TABLE.replace("T = ", "5 s = "),
    ],
)
def test_other_numbers_need_none(text):
    assert quote.unmarked(text) == []


@pytest.fixture
def only_page(tmp_path, monkeypatch):
    """The only page that there is, of figures from `RESULT`."""
    (tmp_path / "some.json").write_text(json.dumps(RESULT))
    monkeypatch.setattr(quote, "RESULTS", tmp_path)
    page = tmp_path / "page.md"
    monkeypatch.setattr(quote, "pages", lambda: [page])
    return page


def test_command_mends_pages_and_checks_them(only_page):
    wrong = "9.99<!-- some steps=512 way=jit: ratios.keras -->"
    only_page.write_text(wrong)
    with pytest.raises(SystemExit, match=r"page\.md: .* would change it"):
        quote.main(["--check"])
    assert only_page.read_text() == wrong
    quote.main([])
    assert only_page.read_text() == wrong.replace("9.99", "1.31")
    quote.main(["--check"])


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_command_finds_figures_from_nowhere(only_page, arguments):
    only_page.write_text("It takes 3 % of the time.")
    with pytest.raises(SystemExit, match=r"page\.md: .* 3 %"):
        quote.main(arguments)


class VisibleText(html.parser.HTMLParser):
    """What a reader sees of a page."""

    def __init__(self, page):
        super().__init__()
        self.text = ""
        self.feed(page)

    def handle_data(self, data):
        self.text += data


def test_readers_do_not_see_the_comments():
    markdown = pytest.importorskip("markdown")
    text = (
        "It is 1.31<!-- some steps=512 way=jit: ratios.keras --> times,\n\n"
        "| a | b |\n| --- | --- |\n"
        "| `x` | 2.6<!-- some steps=512: ratios.keras --> s |\n" + TABLE
    )
    page = markdown.markdown(text, extensions=["tables"])
    seen = VisibleText(page).text
    assert "1.31 times" in seen and "2.6 s" in seen and "51.2" in seen
    assert "steps" not in seen and "table:" not in seen
    assert page.count("<table>") == 2
