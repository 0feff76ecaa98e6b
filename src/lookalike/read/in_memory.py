"""Documents in memory: lists, dicts, arrays, records, and columns and tables of every library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting
from lookalike.read.batches import (
    NO_ID,
    Documents,
    as_ids,
    as_names,
    as_texts,
    check_one_kind,
    listed,
    pick_id_column,
    pick_text_columns,
    places,
)
from lookalike.read.fields import MISSING, TEXT, joined, joined_texts, not_joined, value_at
from lookalike.read.tables import (
    are_records,
    arrow_of_dataset,
    hold,
    is_dataset,
    is_splits,
    package_of,
    unknown,
)
from lookalike.read.tokens import (
    BYTES,
    SEQUENCES,
    are_tokens,
    as_strings,
    as_tokens,
    from_lists,
    holds_tokens,
    invalid,
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

    from lookalike.read.batches import Names
    from lookalike.read.fields import Kind

__all__ = ["read_memory"]


def read_memory(
    source: Any, *, text: Names, id: str | None, vector: str | None = None
) -> Documents:
    """Read texts, tokens or vectors in memory, of whatever kind."""
    check_one_kind(text, vector)
    source = hold(source)
    package = package_of(source)
    if package == "pandas" and (hasattr(source, "columns") or _is_series(source, vector)):
        return _from_pandas(source, text, id, vector)
    if is_splits(source):
        return _from_splits(source, text, id, vector)
    if is_dataset(source):
        source = arrow_of_dataset(source)
    elif package == "polars" and hasattr(source, "to_arrow"):
        source = source.to_arrow()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _from_table(source, text, id, vector)
    if are_records(source):
        return _from_records(source, text, id, vector)
    if text is not None or id not in (None, NO_ID) or vector is not None:
        raise SourceError(
            f"{setting('text')}, {setting('vector')} and {setting('id')} name columns of a table, "
            "a data frame, a list of dicts or files of records; "
            f"a {type(source).__name__} has none: leave them out"
        )
    return _without_names(source)


def _is_series(source: Any, vector: str | None) -> bool:
    return vector is None and hasattr(source, "index") and hasattr(source, "name")


def _without_names(source: Any) -> Documents:
    """Read what has no columns with names."""
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        return Documents(places(len(source)), _as_column(source, "the column", None))
    if isinstance(source, np.ndarray) and source.ndim > 1:
        return Documents(places(len(source)), from_array(source))
    if package_of(source) == "scipy":
        return _from_sparse(source)
    if isinstance(source, Mapping):
        ids = as_ids(list(source), lambda place: f"key {place + 1}")
        return Documents(ids, _as_documents(list(source.values()), list(source), None))
    if isinstance(source, Set):
        raise SourceError(
            "documents cannot be read from a set, whose order changes from run to run: "
            "give a list or dict of texts or vectors"
        )
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise unknown(source)
    try:
        values = list(source)
    except TypeError:
        raise unknown(source) from None
    return Documents(places(len(values)), _as_documents(values, range(len(values)), None))


def _from_sparse(source: Any) -> Documents:
    from scipy import sparse

    if not sparse.issparse(source):
        raise unknown(source)
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
                f"document {row} of {name} has a token that is missing, or not valid UTF-8: fix or "
                "remove it"
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
    if column.type in BYTES:
        column = _checked_texts(column, name)
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


def _checked_texts(column: Any, name: str) -> pa.Array:
    """Make texts of bytes, or say which are none."""
    texts = joined([as_strings(chunk, TEXT) for chunk in _chunks(column)])
    wrong = np.flatnonzero(invalid(texts))
    if len(wrong):
        raise SourceError(f"document {wrong[0]} of {name} is not valid UTF-8: fix or remove it")
    return texts


def _from_table(table: pa.Table, text: Names, id_name: str | None, vector: str | None) -> Documents:
    names = table.column_names
    text_names = pick_text_columns(names, text, vector)
    id_column = pick_id_column(names, id_name)
    _check_names(names, *text_names, id_column)
    kind: Kind = "text" if vector is None else "vectors"
    texts = _put_together(
        {name: _as_column(table[name], f"column {quoted(name)}", kind) for name in text_names}
    )
    if id_column is None:
        ids = places(len(texts))
    else:
        ids = as_ids(table[id_column].to_pylist(), lambda place: f"row {place + 1}")
    others = [name for name in names if names.count(name) == 1 and name not in text_names]
    columns = {name: table[name] for name in others}
    return Documents(ids, texts, columns)


def _from_splits(
    splits: Mapping[str, Any], text: Names, id_name: str | None, vector: str | None
) -> Documents:
    """Read the splits of a dataset one after the other.

    Ids of several splits are often the same: they are taken where they are asked for only.
    """
    names, rows, parts = list(splits), [], []
    for name, split in splits.items():
        try:
            parts.append(_from_table(arrow_of_dataset(split), text, id_name, vector))
        except SourceError as error:
            raise SourceError(f"split {quoted(name)}: {error.raw}") from None
        rows += [f"{name}:{row}" for row in range(len(parts[-1]))]
    if not names:
        return Documents(places(0), pa.array([], pa.large_string()))
    ids = rows
    if id_name not in (None, NO_ID):
        ids = [each for part in parts for each in part.ids.to_pylist()]
    return Documents(
        as_ids(ids, rows.__getitem__),
        joined([part.texts for part in parts]),
        {name: _of_parts(name, parts) for name in chain.from_iterable(p.columns for p in parts)},
    )


def _of_parts(name: str, parts: Sequence[Documents]) -> pa.ChunkedArray:
    """Put a column of several tables together; null where a table has none."""
    columns = [part.columns.get(name, pa.nulls(len(part))) for part in parts]
    return pa.chunked_array([joined([each for column in columns for each in _chunks(column)])])


def _from_records(
    records: Sequence[Any], text: Names, id_name: str | None, vector: str | None
) -> Documents:
    """Read dicts; a name that none of their fields has leads into nested ones, as in JSONL."""
    for row, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            raise SourceError(
                f"row {row} is of type {type(record).__name__} where others are dicts: give dicts"
            )
    names = list(dict.fromkeys(chain.from_iterable(records)))
    nested = [
        name
        for name in (*as_names(text), vector, id_name)
        if name is not None and name not in names and _is_nested(name, records[0])
    ]
    text_names = pick_text_columns([*names, *nested], text, vector)
    id_column = pick_id_column([*names, *nested], id_name)
    kind: Kind = "text" if vector is None else "vectors"
    ids = places(len(records))
    if id_column is not None:
        ids = as_ids(_field(id_column, records), lambda place: f"row {place + 1}")
    rows = range(len(records))
    texts = {name: _as_documents(_field(name, records), rows, kind) for name in text_names}
    others = [name for name in names if name not in text_names]
    columns = {str(name): [record.get(name) for record in records] for name in others}
    return Documents(ids, _put_together(texts), columns)


def _is_nested(name: Any, record: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and value_at(record, tuple(name.split("."))) is not MISSING


def _field(name: str, records: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Give a field of each record, which must have it."""
    values = []
    for row, record in enumerate(records, 1):
        path = (name,) if name in record else tuple(name.split("."))
        value = value_at(record, path)
        if value is MISSING:
            raise SourceError(
                f"row {row} has no field {quoted(name)}: there are {listed(list(record))}"
            )
        values.append(value)
    return values


def _put_together(texts: Mapping[Any, pa.Array]) -> pa.Array:
    """Join columns of texts by their names; of one alone, whatever it holds."""
    for name, column in texts.items():
        if len(texts) > 1 and column.type != TEXT:
            raise not_joined(str(name))
    return joined_texts(list(texts.values()))


def _check_names(names: Sequence[Any], *chosen: str | None) -> None:
    """Refuse two columns of a name that was chosen."""
    for name in chosen:
        if names.count(name) > 1:
            raise SourceError(
                f"there are {names.count(name)} columns {quoted(name)}: rename all but one"
            )


def _from_pandas(source: Any, text: Names, id_name: str | None, vector: str | None) -> Documents:
    labels = source.index.tolist()
    columns: dict[str, Any] = {}
    if hasattr(source, "columns"):
        kind: Kind = "text" if vector is None else "vectors"
        names = list(source.columns)
        text_names = pick_text_columns(names, text, vector)
        id_column = pick_id_column(names, id_name)
        _check_names(names, *text_names, id_column)
        if id_column is not None:
            labels = source[id_column].astype(object).where(source[id_column].notna(), None)
            labels = [_without_fraction(label) for label in labels.tolist()]
        found = {name: _pandas_column(source[name], str(name), kind) for name in text_names}
        columns = {str(name): source[name].tolist() for name in names if name not in text_names}
    else:
        found = {source.name: _pandas_column(source, str(source.name), None)}
    ids = as_ids(labels, lambda place: f"row {place + 1}")
    return Documents(ids, _put_together(found), columns)


def _without_fraction(label: Any) -> Any:
    """Give a whole number back to an id that pandas made a float because others are missing."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _pandas_column(column: Any, name: str, kind: Kind | None) -> pa.Array:
    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, OverflowError):
        values = column.astype(object).where(column.notna(), None).tolist()
        return _as_documents(values, range(len(values)), kind)
    return _as_column(found, f"column {quoted(name)}", kind)
