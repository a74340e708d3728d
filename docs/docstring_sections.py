"""For mkdocstrings: the package's docstring sections, in Griffe's words."""

import re
from typing import Any

import griffe

SECTIONS = {
    r"^Call arguments:$": "Other Parameters: Call arguments",
    r"^Example:$": "Examples:",
}


class DocstringSections(griffe.Extension):
    """Renames sections that Griffe would show as notes."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Edits the docstring in memory, before it is parsed."""
        if obj.docstring is None:
            return
        for ours, theirs in SECTIONS.items():
            obj.docstring.value = re.sub(
                ours, theirs, obj.docstring.value, flags=re.MULTILINE
            )
