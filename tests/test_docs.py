"""Every page is true: its code runs, and prints what the page says."""

import contextlib
import importlib.util
import io
import itertools
import re
from pathlib import Path

import pytest

import keras_attention as ka
from keras_attention import decoding
from keras_attention.serialization import EXPORTED, PARTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("README.md"), *sorted(DOCS.rglob("*.md"))]

#: What pages need beside the package itself.
EXTRAS = {
    "saving.md": ("tf2onnx", "onnxruntime", "ai_edge_litert"),
    "losses_and_metrics.md": ("rapidfuzz", "sacrebleu"),
}

FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Each python block of a page, with the text block that follows it."""
    text = page.read_text()
    fences = list(FENCE.finditer(text))
    for fence, following in itertools.zip_longest(fences, fences[1:]):
        if fence[1] != "python":
            continue
        output = None
        if following and following[1] == "text":
            gap = text[fence.end() : following.start()]
            output = None if gap.strip() else following[2]
        line = text[: fence.start(2)].count("\n")
        yield "\n" * line + fence[2], output


def snake_case(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


# h5py and tf2onnx use NumPy in ways that it will drop.
@pytest.mark.filterwarnings("ignore:__array__ impl:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:In the future:FutureWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_prints_what_the_page_says(page):
    for module in EXTRAS.get(page.name, ()):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    namespace = {"__name__": "page"}
    for code, output in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), namespace)
        if output is not None:
            assert printed.getvalue() == output


LAYERS = [cls.__name__ for cls in EXPORTED]


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_has_a_page(name):
    page = DOCS / "mechanisms" / f"{snake_case(name)}.md"
    picture = f"pictures/{snake_case(name)}.png"
    text = page.read_text()
    assert text.startswith(f"# {name}\n")
    assert f"::: keras_attention.{name}\n" in text
    assert "## Reference\n" in text and "## Differences\n" in text
    assert f"(../{picture})" in text and (DOCS / picture).exists()
    assert list(blocks(page))


def test_losses_and_metrics_share_a_page():
    text = (DOCS / "losses_and_metrics.md").read_text()
    elsewhere = {*LAYERS, *(cls.__name__ for cls in PARTS)}
    for name in ka.__all__:
        assert name in elsewhere or f"::: keras_attention.{name}\n" in text


def test_parts_of_a_decoder_share_a_page():
    text = (DOCS / "decoding.md").read_text()
    for name in (*(cls.__name__ for cls in PARTS), *decoding.__all__):
        place = "" if hasattr(ka, name) else "decoding."
        assert f"::: keras_attention.{place}{name}\n" in text


def test_every_page_is_in_the_navigation_and_exists():
    entries = re.findall(
        r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M
    )
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert sorted(entries) == sorted(pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    for link in links:
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_every_promise_is_listed():
    from keras_attention.testing import CHECKS

    text = (DOCS / "conformance.md").read_text()
    for check in CHECKS:
        assert f"| `{check.name}` | {check.promised} |" in text
