"""Packages that only some metrics need."""

import importlib
from typing import Any


def package(module: str, wanted_by: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"`{wanted_by}` needs `{module.partition('.')[0]}`, which is not "
            'installed: pip install "keras-attention-layers[metrics]"'
        ) from error
