"""Settings of a run, the fields of a dataclass, on a command line."""

import argparse
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import common

Settings = TypeVar("Settings")

FRACTIONS = ("dropout", "label_smoothing")


def number(kind: type, name: str) -> Callable[[str], float]:
    """Reads a number that makes sense for the setting."""

    def read(text: str) -> float:
        value = kind(text)
        if name in FRACTIONS and not 0 <= value < 1:
            raise argparse.ArgumentTypeError(f"not in [0, 1): {text}")
        if name not in (*FRACTIONS, "seed") and value <= 0:
            raise argparse.ArgumentTypeError(f"not positive: {text}")
        return value

    read.__name__ = kind.__name__  # Named so in argparse's error line.
    return read


def add_options(
    parser: argparse.ArgumentParser,
    settings: type,
    choices: Mapping[str, Sequence[str]],
) -> None:
    """One option for each field, absent unless given."""
    group = parser.add_argument_group("settings of a run")
    for field in dataclasses.fields(settings):
        allowed = choices.get(field.name)
        kind = type(field.default)
        group.add_argument(
            "--" + field.name.replace("_", "-"),
            type=str if allowed else number(kind, field.name),
            metavar=None if allowed else kind.__name__.upper(),
            choices=allowed,
            default=argparse.SUPPRESS,
            help=f"default: {field.default}",
        )


def chosen(options: argparse.Namespace, start: Settings) -> Settings:
    """`start` with what the command line says instead."""
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(start)
        if hasattr(options, field.name)
    }
    return dataclasses.replace(start, **given)


def resumed(
    options: argparse.Namespace, before: Settings, fixed: Sequence[str]
) -> Settings:
    """`before` with other settings; ends the program if one is fixed."""
    settings = chosen(options, before)
    for name in fixed:
        kept = getattr(before, name)
        if getattr(settings, name) != kept:
            common.fail(
                f"--resume continues a run with {name}={kept}; "
                "use another --run folder"
            )
    return settings
