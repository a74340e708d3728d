"""What every exported class has beside its code."""

import inspect
import pathlib
import re
from typing import Any

import keras
import pytest

import keras_attention as ka
from keras_attention.attention_layer import AttentionLayer
from keras_attention.serialization import EXPORTED, MEASURES, PARTS
from keras_attention.stages import Alignment, Read, Score

ROOT = pathlib.Path(__file__).parent.parent

CLASSES = [*EXPORTED, *MEASURES, *PARTS]

every_class = pytest.mark.parametrize(
    "cls", CLASSES, ids=lambda cls: cls.__name__
)

#: Those without a paper.
NO_REFERENCE = (ka.Attention, ka.TokenAccuracy)

#: Not called with tensors, but by a decoder.
NOT_CALLED = (ka.AttentionCell,)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_public_names_are_the_exported_classes() -> None:
    public = [getattr(ka, name) for name in ka.__all__]
    functions = [inspect.isfunction(each) for each in public]
    assert functions == sorted(functions)
    assert public[: functions.count(False)] == CLASSES


@every_class
def test_lives_in_the_file_named_after_it(cls: Any) -> None:
    name = snake(cls.__name__)
    for base in (Score, Alignment, Read, AttentionLayer, keras.losses.Loss):
        if issubclass(cls, base) and cls is not ka.Attention:
            name = name.removesuffix(f"_{snake(base.__name__)}")
    stem = cls.__module__.rpartition(".")[2]
    assert stem in {name, name.removesuffix("_attention")}


@every_class
def test_has_a_row_in_the_readme(cls: Any) -> None:
    rows = (ROOT / "README.md").read_text().splitlines()
    assert any(row.startswith(f"| `{cls.__name__}` |") for row in rows)


@every_class
def test_has_a_page(cls: Any) -> None:
    page = f"mechanisms/{snake(cls.__name__)}.md"
    if cls in MEASURES:
        page = "losses_and_metrics.md"
    if cls in PARTS:
        page = "decoding.md"
    assert cls.__name__ in (ROOT / "docs" / page).read_text()


@every_class
def test_has_a_line_in_the_changelog(cls: Any) -> None:
    assert f"`{cls.__name__}`" in (ROOT / "CHANGELOG.md").read_text()


@every_class
def test_docstring_has_its_sections(cls: Any) -> None:
    doc = inspect.getdoc(cls)
    sections = ("Call arguments", "Returns", "Example:", "Reference:")
    if cls in NOT_CALLED:
        sections = sections[-1:]
    for section in sections:
        if section != "Reference:" or cls not in NO_REFERENCE:
            assert section in doc, section
    init = vars(cls).get("__init__")
    for name in inspect.signature(init).parameters if init else []:
        assert name == "self" or f"{name}:" in doc, name


@every_class
def test_does_not_inherit_from_a_final_class(cls: Any) -> None:
    assert not [base for base in cls.__mro__[1:] if base in CLASSES]


@every_class
def test_is_annotated(cls: Any) -> None:
    for name, member in vars(cls).items():
        if inspect.isfunction(member) and not name.startswith("_"):
            signature = inspect.signature(inspect.unwrap(member))
            _self, *parameters = signature.parameters.values()
            missing = [p for p in parameters if p.annotation is p.empty]
            assert not missing, f"{name}: {missing}"
            assert signature.return_annotation is not signature.empty, name
