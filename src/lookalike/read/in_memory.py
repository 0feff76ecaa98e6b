"""Documents in memory: lists, dicts, arrays, and Arrow, pandas and polars columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import setting
from lookalike.read.batches import (
    ID_NAMES,
    Documents,
    as_ids,
    as_texts,
    check_one_kind,
    pick_column,
    pick_text_column,
    places,
)
from lookalike.read.fields import joined
from lookalike.read.tokens import (
    SEQUENCES,
    are_tokens,
    as_tokens,
    from_lists,
    holds_tokens,
)
from lookalike.read.vectors import (
    as_vectors,
    from_array,
    from_sequences,
    from_sparse,
    holds_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.read.fields import Kind

__all__ = ["read_memory"]


def read_memory(
    source: Any, *, text: str | None, id: str | None, vector: str | None = None
) -> Documents:
    """Read texts, tokens or vectors in memory, of whatever kind."""
    check_one_kind(text, vector)
    package = type(source).__module__.partition(".")[0]
    if package == "pandas" and (vector is None or hasattr(source, "columns")):
        return _from_pandas(source, text, id, vector)
    if package == "polars":
        source = (source.collect() if hasattr(source, "collect") else source).to_arrow()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_table(source, text, id, vector)
    if text is not None or id is not None or vector is not None:
        raise SourceError(
            f"{setting('text')}, {setting('vector')} and {setting('id')} name columns of a table, "
            f"a data frame or files of records; a {type(source).__name__} has none: leave them out"
        )
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        return Documents(places(len(source)), _as_column(source, "the column", None))
    if isinstance(source, np.ndarray) and source.ndim > 1:
        return Documents(places(len(source)), from_array(source))
    if package == "scipy":
        return _from_sparse(source)
    if isinstance(source, Mapping):
        ids = as_ids(list(source), lambda place: f"key {place + 1}")
        return Documents(ids, _as_documents(list(source.values()), list(source), None))
    if isinstance(source, Set):
        raise SourceError(
            "documents cannot be read from a set, whose order changes from run to run: "
            "give a list or dict of texts or vectors"
        )
    try:
        values = list(source) if isinstance(source, Iterable) else None
    except TypeError:
        values = None
    if values is None:
        raise _unknown(source)
    return Documents(places(len(values)), _as_documents(values, range(len(values)), None))


def _unknown(source: Any) -> SourceError:
    return SourceError(
        f"documents cannot be read from a {type(source).__name__}: give a list or dict of texts, "
        "tokens or vectors, an Arrow, pandas or polars column, an array, a table, or a path"
    )


def _from_sparse(source: Any) -> Documents:
    from scipy import sparse

    if not sparse.issparse(source):
        raise _unknown(source)
    vectors = from_sparse(source)
    return Documents(places(len(vectors)), vectors)


def _as_documents(values: Sequence[Any], names: Sequence[Any], kind: Kind | None) -> pa.Array:
    """Make a column of Python values, of which lists are vectors or tokens.

    `kind` is that of a column of a table, where the user said which holds vectors.
    """
    first = next((value for value in values if value is not None), None)
    if kind == "vectors":
        return from_sequences(values, names)
    if not isinstance(first, SEQUENCES):
        return as_texts(values, names)
    if kind == "text" or are_tokens(values):
        return from_lists(values, names)
    return from_sequences(values, names)


def _as_column(column: Any, name: str, kind: Kind | None) -> pa.Array:
    """Make one Arrow array of a column: of texts or vectors, or without a kind of what it holds.

    A column of lists that is said to be of texts is one of tokens, as in files.
    """
    if kind == "vectors" or (kind is None and holds_vectors(column.type)):
        return _as_vectors(column, name)
    if holds_tokens(column.type):
        return _as_tokens(column, name)
    return _as_texts(column, name)


def _chunks(column: Any) -> list[pa.Array]:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return chunks or [pa.array([], column.type)]


def _as_tokens(column: Any, name: str) -> pa.Array:
    found, before = [], 0
    for chunk in _chunks(column):
        lists, wrong = as_tokens(chunk)
        if wrong.any():
            row = before + int(np.flatnonzero(wrong)[0])
            raise SourceError(
                f"document {row} of {name} is not valid UTF-8, or lacks a token: mend or remove it"
            )
        found.append(lists)
        before += len(chunk)
    return joined(found)


def _as_vectors(column: Any, name: str) -> pa.Array:
    if not holds_vectors(column.type) and not pa.types.is_null(column.type):
        raise SourceError(
            f"{name} holds {column.type}, not vectors: name a column of lists of numbers"
        )
    return joined([as_vectors(chunk) for chunk in _chunks(column)])


def _as_texts(column: Any, name: str) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        values = [_as_texts(chunk.dictionary, name).take(chunk.indices) for chunk in chunks]
        column = pa.chunked_array(values, pa.large_string())
    kind = column.type
    if kind not in (pa.string(), pa.large_string(), pa.string_view(), pa.null()):
        other = f", or this one by {setting('vector')}" if holds_vectors(kind) else ""
        raise SourceError(
            f"{name} holds {column.type}, not text: name a column of strings, or of lists of "
            f"tokens{other}"
        )
    column = column.cast(pa.large_string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks else pa.array([], pa.large_string())
    return column


def _from_table(
    table: pa.Table, text: str | None, id_name: str | None, vector: str | None
) -> Documents:
    names = table.column_names
    text_name = pick_text_column(names, text, vector)
    id_column = pick_column(names, id_name, ID_NAMES, "id")
    for name in (text_name, id_column):
        if names.count(name) > 1:
            raise SourceError(f"there are {names.count(name)} columns {name!r}: rename all but one")
    kind: Kind = "text" if vector is None else "vectors"
    texts = _as_column(table[text_name], f"column {text_name!r}", kind)
    if id_column is None:
        ids = places(len(texts))
    else:
        ids = as_ids(table[id_column].to_pylist(), lambda place: f"row {place + 1}")
    columns = {name: table[name] for name in names if names.count(name) == 1 and name != text_name}
    return Documents(ids, texts, columns)


def _from_pandas(
    source: Any, text: str | None, id_name: str | None, vector: str | None
) -> Documents:
    labels = source.index.tolist()
    columns: dict[str, Any] = {}
    kind: Kind | None = None
    if hasattr(source, "columns"):
        kind = "text" if vector is None else "vectors"
        names = list(source.columns)
        text_name = pick_text_column(names, text, vector)
        id_column = pick_column(names, id_name, (), "id")
        column = source[text_name]
        if id_column is not None:
            labels = source[id_column].astype(object).where(source[id_column].notna(), None)
            labels = [_without_fraction(label) for label in labels.tolist()]
        columns = {str(name): source[name].tolist() for name in names if name != text_name}
    else:
        text_name, column = str(source.name), source
    ids = as_ids(labels, lambda place: f"row {place + 1}")
    return Documents(ids, _pandas_column(column, text_name, kind), columns)


def _without_fraction(label: Any) -> Any:
    """Give a whole number back to an id that pandas made a float because others are missing."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _pandas_column(column: Any, name: str, kind: Kind | None) -> pa.Array:
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, OverflowError):
        values = column.astype(object).where(column.notna(), None).tolist()
        return _as_documents(values, range(len(values)), kind)
    return _as_column(found, f"column {name!r}", kind)
