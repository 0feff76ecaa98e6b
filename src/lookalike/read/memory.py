"""Texts in memory: lists, dicts, Arrow, pandas and polars columns and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import pyarrow as pa

from lookalike.errors import SourceError
from lookalike.read.documents import (
    ID_NAMES,
    Documents,
    as_ids,
    as_texts,
    pick_column,
    pick_text_column,
    places,
)

__all__ = ["read_memory"]


def read_memory(source: Any, *, text: str | None, id: str | None) -> Documents:
    """Read texts in memory, of whatever kind."""
    package = type(source).__module__.partition(".")[0]
    if package == "pandas":
        return _from_pandas(source, text, id)
    if package == "polars":
        source = (source.collect() if hasattr(source, "collect") else source).to_arrow()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_table(source, text, id)
    if text is not None or id is not None:
        raise SourceError(
            "text and id name columns of a table, a data frame or files of records; "
            f"a {type(source).__name__} has none: leave them out"
        )
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        return Documents(places(len(source)), _as_column(source, "the column"))
    if isinstance(source, Mapping):
        ids = as_ids(list(source), lambda place: f"key {place + 1}")
        return Documents(ids, as_texts(list(source.values()), list(source)))
    if isinstance(source, Set):
        raise SourceError(
            "documents cannot be read from a set, whose order changes from run to run: "
            "give a list or dict of texts"
        )
    try:
        texts = list(source) if isinstance(source, Iterable) else None
    except TypeError:
        texts = None
    if texts is None:
        raise SourceError(
            f"documents cannot be read from a {type(source).__name__}: give a list or dict of "
            "texts, an Arrow, pandas or polars column, a table, or a path"
        )
    return Documents(places(len(texts)), as_texts(texts, range(len(texts))))


def _as_column(column: Any, name: str) -> pa.Array:
    """Make one Arrow array of large strings of a column."""
    if pa.types.is_dictionary(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        values = [_as_column(chunk.dictionary, name).take(chunk.indices) for chunk in chunks]
        column = pa.chunked_array(values, pa.large_string())
    kind = column.type
    if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.null()):
        raise SourceError(f"{name} holds {column.type}, not text: name a column of strings")
    column = column.cast(pa.large_string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks else pa.array([], pa.large_string())
    return column


def _from_table(table: pa.Table, text: str | None, id_name: str | None) -> Documents:
    names = table.column_names
    text_name = pick_text_column(names, text)
    id_column = pick_column(names, id_name, ID_NAMES, "id")
    for name in (text_name, id_column):
        if names.count(name) > 1:
            raise SourceError(f"there are {names.count(name)} columns {name!r}: rename all but one")
    texts = _as_column(table[text_name], f"column {text_name!r}")
    if id_column is None:
        ids = places(len(texts))
    else:
        ids = as_ids(table[id_column].to_pylist(), lambda place: f"row {place + 1}")
    columns = {name: table[name] for name in names if names.count(name) == 1 and name != text_name}
    return Documents(ids, texts, columns)


def _from_pandas(source: Any, text: str | None, id_name: str | None) -> Documents:
    labels = source.index.tolist()
    columns: dict[str, Any] = {}
    if hasattr(source, "columns"):
        names = list(source.columns)
        text_name = pick_text_column(names, text)
        id_column = pick_column(names, id_name, (), "id")
        column = source[text_name]
        if id_column is not None:
            labels = source[id_column].astype(object).where(source[id_column].notna(), None)
            labels = [_without_fraction(label) for label in labels.tolist()]
        columns = {str(name): source[name].tolist() for name in names if name != text_name}
    else:
        text_name, column = str(source.name), source
    ids = as_ids(labels, lambda place: f"row {place + 1}")
    return Documents(ids, _pandas_column(column, text_name), columns)


def _without_fraction(label: Any) -> Any:
    """Give a whole number back to an id that pandas made a float because others are missing."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _pandas_column(column: Any, name: str) -> pa.Array:
    try:
        texts = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        values = column.astype(object).where(column.notna(), None).tolist()
        return as_texts(values, range(len(values)))
    if isinstance(texts, pa.ChunkedArray) and not texts.num_chunks:
        return pa.array([], pa.large_string())
    return _as_column(texts, f"column {name!r}")
