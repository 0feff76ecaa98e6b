"""Jupyter notebooks: the sources of their cells, text and code, without what code has put out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lookalike.read.document_text import refused_if_broken, sound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.streams import Bounds

__all__ = ["notebook_text"]


def notebook_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the cells in order, with a blank line between two."""
    data = file.read(bounds.record + 1)
    if len(data) > bounds.record:
        raise bounds.too_long(name)
    with refused_if_broken(name, "IPYNB"):
        try:
            notebook = json.loads(data)
        except RecursionError:
            raise ValueError("its JSON is too deeply nested") from None
        return sound("\n\n".join(filter(None, _sources(notebook))))


def _sources(notebook: Any) -> Iterator[str]:
    if not isinstance(notebook, dict):
        raise TypeError("it is not a JSON object")
    sheets = notebook.get("worksheets")  # of notebooks before 2015
    for holder in sheets if isinstance(sheets, list) else [notebook]:
        if "cells" not in holder:
            raise ValueError("it has no cells")
        for cell in holder["cells"]:
            source = cell.get("source", cell.get("input", ""))
            yield source if isinstance(source, str) else "".join(source)
