"""Folders, files of every kind, lists and columns to documents: an id and a text each."""

from __future__ import annotations

import os
from typing import Any

from lookalike.read.corpus import Batch, Corpus, Position, open_corpus, read_paths
from lookalike.read.documents import Documents
from lookalike.read.memory import read_memory
from lookalike.read.papers import read_text

__all__ = [
    "Batch",
    "Corpus",
    "Documents",
    "Position",
    "open_corpus",
    "read",
    "read_paths",
    "read_text",
]


def read(source: Any, *, text: str | None = None, id: str | None = None) -> Documents:
    """Read a list or dict of texts, a column, a table or data frame, or a path.

    Of a list or a column the ids are the places, counted from 0; of a dict, its keys; of a pandas
    object, its index, unless `id` names a column.
    """
    if isinstance(source, (str, os.PathLike)):
        return read_paths([source], text=text, id=id)
    return read_memory(source, text=text, id=id)
