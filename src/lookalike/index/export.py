"""An index as a table that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.index import metadata
from lookalike.index.columns import Columns
from lookalike.index.matches import ARROW_TYPES
from lookalike.index.packed import damaged, unpacked
from lookalike.text.vectors import matrix
from lookalike.write.files import write_atomically, write_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from lookalike.index.store import Document, Reader, Store
    from lookalike.recipe import Recipe

__all__ = ["write_export"]

PAGE = 10_000
"""Documents of a table."""
OWN = ("id", "text", "vector")
"""Columns that are not metadata."""


def write_export(store: Store, recipe: Recipe, path: str | os.PathLike[str]) -> int:
    """Write all documents to a file of Parquet, whole or not at all; count them."""
    written = 0

    def tables(reader: Reader) -> Iterator[pa.Table]:
        nonlocal written
        columns = Columns.load(reader.fact("columns"))
        yield _table(reader, [], recipe, columns, store.address)
        after: str | None = None
        while page := reader.next_documents(after, PAGE):
            written += len(page)
            yield _table(reader, page, recipe, columns, store.address)
            after = page[-1].id

    with store.read() as reader:
        write_atomically(path, lambda stream: write_tables(tables(reader), stream, "parquet"))
    return written


def _table(
    reader: Reader, page: list[Document], recipe: Recipe, columns: Columns, address: str
) -> pa.Table:
    id_type = pa.int64() if columns.whole_ids else pa.string()
    found: dict[str, Any] = {"id": pa.array([columns.id(one.id) for one in page], id_type)}
    if not recipe.by_sketches and recipe.form.kind in ("text", "vectors"):
        bodies = reader.bodies(np.unique(np.array([one.entry for one in page], np.int64)))
        documents = unpacked(bodies, address)
        place_of = {body.entry: place for place, body in enumerate(bodies)}
        if any(one.entry not in place_of for one in page):
            raise damaged(address, "a document in it has no content")
        places = [place_of[one.entry] for one in page]
        if recipe.form.kind == "text":
            texts = [documents.text(place) for place in places]
            found["text"] = pa.array(texts, pa.large_string())
        else:
            vectors = matrix(documents, recipe.form.dimension)[places]
            found["vector"] = pa.array(list(vectors), pa.list_(pa.float32()))
    values = [metadata.decode(one.metadata, columns.metadata) for one in page]
    for name, kind in sorted(columns.metadata.items()):
        shown = f"metadata.{name}" if name in OWN else name
        found[shown] = pa.array([one.get(name) for one in values], ARROW_TYPES[kind])
    return pa.table(found)
