"""Figures as they are shown: in which unit, with how many digits."""

import math

#: What a figure is multiplied by to be shown in a unit.
UNITS = {"": 1.0, "ms": 1e3, "us": 1e6, "%": 1e2, "GiB": 1 / 1024}


def scaled(value: float, unit: str = "") -> float:
    """`value` in a unit of `UNITS`; `inverse` is one over it."""
    return 1 / value if unit == "inverse" else value * UNITS[unit]


def shown(value: float, unit: str = "", digits: int = 3) -> str:
    """`value` with so many significant digits; an integer with all it has."""
    if isinstance(value, int) and not unit:
        return f"{value:,}"
    value = scaled(value, unit)
    if not value or not math.isfinite(value):
        return f"{value:g}"
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    decimals = digits - 1 - exponent
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"
