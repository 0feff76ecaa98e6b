"""Folders, files of every kind, lists and columns to documents: an id and a text or vector each.

Readers load on first use: one file of text is read without those of tables.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lookalike.base.lazy_names import on_first_use

if TYPE_CHECKING:
    from lookalike.read.batches import Batch, Documents, Names, Position
    from lookalike.read.corpus import Corpus, open_corpus, read_paths
    from lookalike.read.fields import kind_of
    from lookalike.read.single_files import read_document, read_text

_HOMES = {
    "Batch": "batches",
    "Corpus": "corpus",
    "Documents": "batches",
    "Position": "batches",
    "kind_of": "fields",
    "open_corpus": "corpus",
    "read_document": "single_files",
    "read_paths": "corpus",
    "read_text": "single_files",
}

__getattr__ = on_first_use(__name__, _HOMES)

__all__ = [
    "Batch",
    "Corpus",
    "Documents",
    "Position",
    "kind_of",
    "open_corpus",
    "read",
    "read_document",
    "read_paths",
    "read_text",
]


def read(
    source: Any,
    *,
    text: Names = None,
    id: str | None = None,
    vector: str | None = None,
    markup: str | None = None,
    main_text: bool = False,
) -> Documents:
    """Read a list or dict of texts, tokens or vectors, records, a column, array, table or a path.

    `text` names the column of the texts, or several, which are joined with a blank line between.
    `vector` names a column of vectors, which are read instead of texts. Of a list, a column or an
    array the ids are the places, counted from 0; of a dict, its keys; of a pandas object without
    a column of ids, its index. `markup` says what the texts are written in; with `main_text` only
    the main text of HTML is read.
    """
    if isinstance(source, (str, os.PathLike)):
        from lookalike.read.corpus import read_paths

        return read_paths(
            [source], text=text, id=id, vector=vector, markup=markup, main_text=main_text
        )
    from lookalike.read.batches import check_markup
    from lookalike.read.in_memory import read_memory

    check_markup(markup, vector)
    documents = read_memory(source, text=text, id=id, vector=vector)
    if markup is None:
        return documents
    from lookalike.read.pages import documents_as_pages

    return documents_as_pages(documents, main=main_text)
