"""Rows in columns, as Parquet, Arrow and ORC give them: which are read, and documents of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting, shortened
from lookalike.read import streams
from lookalike.read.batches import id_array, is_missing
from lookalike.read.fields import (
    TEXT,
    Choice,
    Kind,
    Path,
    Piece,
    ReadOptions,
    choose,
    joined_texts,
    not_joined,
    numbered,
)
from lookalike.read.files import Unread
from lookalike.read.tokens import (
    BYTES,
    STRINGS,
    as_strings,
    as_tokens,
    decoded,
    holds_tokens,
    invalid,
    plain,
)
from lookalike.read.vectors import as_vectors, byte_lengths, holds_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from lookalike.read.files import Shard

__all__ = [
    "MAX_ROWS",
    "StoredTable",
    "check_names",
    "choose_from_schema",
    "chosen_paths",
    "parse_rows",
    "slices",
    "type_at",
]

MAX_ROWS = 4096
"""Rows read at once: the sizes told by files are those before dictionaries are looked up."""


class StoredTable(Protocol):
    """A file of rows in columns, in groups that are read each by itself."""

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""

    @property
    def rows(self) -> int:
        """How many there are in the file."""

    def groups(self, first: int) -> Iterator[tuple[int, int, int]]:
        """Give each group from one on, the rows before it, and its own."""

    def stretches(
        self, choice: Choice, group: int, start: int, before: int, at_once: int
    ) -> Iterator[tuple[int, Any]]:
        """Give the columns of each stretch of a group, and the rows of the file before it.

        `start` is the rows before the group, `before` those that are done with already, `at_once`
        the bytes of a stretch, about.
        """


def check_names(fields: Iterable[pa.Field]) -> None:
    """Refuse names of columns, and of what is within them, that are no text."""
    for field in fields:
        field.name.encode()  # which Arrow decodes here, and not before
        check_names(field.type.field(place) for place in range(field.type.num_fields))


def slices(batch: Any, start: int, before: int, at_once: int) -> Iterator[tuple[int, Any]]:
    """Cut rows that are in memory into stretches, without those that are done with already."""
    rows = int(min(max(at_once * len(batch) // max(batch.nbytes, 1), 1), MAX_ROWS))
    first = min(max(before - start, 0), len(batch))
    for at in range(first, len(batch), rows):
        yield start + at, batch.slice(at, rows)


def chosen_paths(choice: Choice, schema: pa.Schema) -> list[Path]:
    """Give the paths of the columns to read that there are."""
    paths = [*choice.texts, *([choice.id] if choice.id else []), *choice.columns.values()]
    return [path for path in paths if type_at(schema, path) is not None]


def choose_from_schema(shard: Shard, schema: pa.Schema, options: ReadOptions) -> Choice:
    """Choose the columns by the schema."""
    names = schema.names

    def find(name: str) -> Path | None:
        if name in names:
            return (name,)
        path = tuple(name.split("."))
        return path if type_at(schema, path) is not None else None

    try:
        texts, id_path = choose(names, options, find)
        for path in (*texts, id_path):
            if path is not None and names.count(path[0]) > 1:
                many = names.count(path[0])
                raise SourceError(f"there are {many} columns {quoted(path[0])}: rename all but one")
        kind = _kind_of_all({".".join(path): type_at(schema, path) for path in texts}, options)
        if id_path is not None and pa.types.is_boolean(type_at(schema, id_path)):
            name = ".".join(id_path)
            raise SourceError(
                f"column {quoted(name)} holds true and false, and ids are numbers or strings: name "
                f"another by {setting('id')}"
            )
    except SourceError as error:
        raise SourceError(f"{shard.name}: {error.raw}") from None
    named = options.columns
    if named is None:
        named = tuple(n for n in names if names.count(n) == 1 and (n,) not in texts)
    columns = {name: find(name) or (name,) for name in named}
    return Choice(texts[0], id_path, kind, columns, more=texts[1:])


def _kind_of_all(found: Mapping[str, pa.DataType], options: ReadOptions) -> Kind:
    """Tell what columns hold; of several, which are joined, each must hold text."""
    kinds = {name: _kind_of(name, kind, options) for name, kind in found.items()}
    for name, kind in kinds.items():
        if len(kinds) > 1 and kind != "text":
            raise not_joined(name)
    return next(iter(kinds.values()))


def _kind_of(name: str, found: pa.DataType, options: ReadOptions) -> Kind:
    """Tell by its type what a column holds, if that can be compared."""
    if options.vector is not None:
        if not holds_vectors(found) and not pa.types.is_null(found):
            raise SourceError(
                f"column {quoted(name)} holds {shortened(found)}, not vectors: name a column "
                f"of lists of numbers by {setting('vector')}"
            )
        return "vectors"
    if holds_tokens(found):
        return "tokens"
    if plain(found) not in (*STRINGS, *BYTES, pa.null()):
        other = f", or this one by {setting('vector')}" if holds_vectors(found) else ""
        raise SourceError(
            f"column {quoted(name)} holds {shortened(found)}, not text: name a column of strings "
            f"by {setting('text')}{other}"
        )
    return "text"


def type_at(schema: pa.Schema, path: Path) -> pa.DataType | None:
    """Give the type of a column, which may be within others; None where there is none."""
    if schema.names.count(path[0]) == 0:
        return None
    kind = schema.field(schema.names.index(path[0])).type
    for name in path[1:]:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return None
        kind = kind.field(name).type
    return kind


def parse_rows(
    shard: Shard, number: int, batch: Any, before: int, choice: Choice, options: ReadOptions
) -> Piece:
    """Make documents of a stretch of rows."""
    records = np.arange(before + 1, before + 1 + len(batch))
    found = [_texts(_at(batch, path), choice) for path in choice.texts]
    texts, wrong = joined_texts([one for one, _ in found]), np.any([w for _, w in found], axis=0)
    name = ", ".join(".".join(path) for path in choice.texts)
    unsound = f"the text in {quoted(name)} is not valid UTF-8"
    if choice.kind == "tokens":
        unsound = f"a token in {quoted(name)} is missing, or not valid UTF-8"
    problems = [(wrong, unsound)]
    if choice.kind != "tokens":
        what, limit = "vector" if choice.kind == "vectors" else "text", streams.RECORD_LIMIT_BYTES
        long = (
            f"the {what} in {quoted(name)} is longer than {limit >> 20} MB, the most that it may be"
        )
        problems.append((byte_lengths(texts) > limit, long))
    if choice.id is None:
        ids = numbered(shard.label, records)
    else:
        ids, without = _ids(_at(batch, choice.id))
        problems.append((without, f"the id in {quoted('.'.join(choice.id))} is missing or no text"))
    reasons = {row: reason for wrong, reason in problems for row in np.flatnonzero(wrong).tolist()}
    bad = [f"{shard.name}:{records[row]}: {reasons[row]}" for row in sorted(reasons)]
    if bad and not options.skip_bad:
        raise SourceError(f"{bad[0]}; fix or remove the row")
    columns = {name: _at(batch, path) for name, path in choice.columns.items()}
    if bad:
        keep = np.ones(len(batch), np.bool_)
        keep[list(reasons)] = False
        mask = pa.array(keep)
        texts, records = texts.filter(mask), records[keep]
        columns = {name: column.filter(mask) for name, column in columns.items()}
        ids = ids.filter(mask)
    shards = np.full(len(records), number, np.int32)
    broken = tuple(Unread(shard.name, line) for line in bad)
    return Piece(ids, texts, shards, records, columns, broken=broken, weight=texts.nbytes)


def _at(batch: Any, path: Path) -> pa.Array:
    if path[0] not in batch.schema.names:
        return pa.nulls(len(batch))
    column = batch.column(batch.schema.names.index(path[0]))
    for name in path[1:]:
        column = pc.struct_field(column, name)
    return column


def _texts(column: pa.Array, choice: Choice) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Give texts, tokens or vectors, and which of them are wrong."""
    if choice.kind == "vectors":
        return as_vectors(column), np.zeros(len(column), np.bool_)
    if choice.kind == "tokens":
        return as_tokens(column)
    texts = as_strings(decoded(column), TEXT)
    return texts, invalid(texts)


def _ids(column: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Give ids, and which rows have none."""
    column = decoded(column)
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        ids = column.cast(pa.int64())
    elif column.type in (*STRINGS, *BYTES):
        ids = as_strings(column, pa.string())
    else:
        values = column.to_pylist()
        kept = [not is_missing(v) and not isinstance(v, (dict, list, bytes)) for v in values]
        filler = next((v for v, is_id in zip(values, kept, strict=True) if is_id), 0)
        ids = id_array([v if is_id else filler for v, is_id in zip(values, kept, strict=True)])
        return ids, ~np.array(kept, np.bool_)
    without = ids.is_null().to_numpy(zero_copy_only=False)
    return ids, (without | invalid(ids)) if ids.type == pa.string() else without
