"""Parquet: row groups, of which only the columns asked for are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
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
from lookalike.read.files import Unread, one_line
from lookalike.read.parquet_pages import unpacked_sizes
from lookalike.read.streams import ANY_MEMORY, Bounds
from lookalike.read.tokens import STRINGS, as_tokens, decoded, holds_tokens, invalid, plain
from lookalike.read.vectors import as_vectors, byte_lengths, holds_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from lookalike.read.files import Shard
    from lookalike.read.streams import Stream

__all__ = ["choose_from_schema", "open_parquet", "parse_rows", "row_groups", "stretches"]

MAX_ROWS = 4096
"""Rows read at once: the sizes told by the file are those before dictionaries are looked up."""

BUFFER_BYTES = 4 << 20
"""Bytes of a column read ahead; without, all of a row group would be."""

LENGTH, MARK = 4, b"PAR1"


def damaged(shard: Shard, error: Exception) -> SourceError:
    """Say that a file is no Parquet file, or a broken one."""
    return SourceError(
        f"{shard.name} is not a whole Parquet file: {one_line(error)}; make the file again"
    )


def open_parquet(stream: Stream, metadata: Any = None, bounds: Bounds = ANY_MEMORY) -> Any:
    """Open a Parquet file for reading; its metadata is read again unless it is given."""
    from pyarrow import parquet as pq

    try:
        if metadata is None:
            _check_metadata(stream, bounds)
        return pq.ParquetFile(
            stream.native_file, metadata=metadata, pre_buffer=False, buffer_size=BUFFER_BYTES
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise damaged(stream.shard, error) from None


def _check_metadata(stream: Stream, bounds: Bounds) -> None:
    """Refuse metadata that would take too much memory: they hold every column of every row group.

    A file ends in their length and a mark of four bytes.
    """
    end = stream.shard.size - len(MARK)
    stored = stream.native_file.read_at(LENGTH, end - LENGTH) if end > LENGTH else b""
    length = int.from_bytes(stored, "little")
    if bounds.record < length < end:
        columns = f"{stream.shard.name} has {size(length)} of metadata"
        raise bounds.too_much(f"{columns}, by its many columns or row groups", bounds.record)


def choose_from_schema(shard: Shard, schema: pa.Schema, options: ReadOptions) -> Choice:
    """Choose the columns by the schema."""
    names = schema.names

    def find(name: str) -> Path | None:
        if name in names:
            return (name,)
        path = tuple(name.split("."))
        return path if _type_at(schema, path) is not None else None

    try:
        texts, id_path = choose(names, options, find)
        for path in (*texts, id_path):
            if path is not None and names.count(path[0]) > 1:
                many = names.count(path[0])
                raise SourceError(f"there are {many} columns {quoted(path[0])}: rename all but one")
        kind = _kind_of_all({".".join(path): _type_at(schema, path) for path in texts}, options)
        if id_path is not None and pa.types.is_boolean(_type_at(schema, id_path)):
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
    if plain(found) not in (*STRINGS, pa.null()):
        other = f", or this one by {setting('vector')}" if holds_vectors(found) else ""
        raise SourceError(
            f"column {quoted(name)} holds {shortened(found)}, not text: name a column of strings "
            f"by {setting('text')}{other}"
        )
    return "text"


def _type_at(schema: pa.Schema, path: Path) -> pa.DataType | None:
    if schema.names.count(path[0]) == 0:
        return None
    kind = schema.field(schema.names.index(path[0])).type
    for name in path[1:]:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return None
        kind = kind.field(name).type
    return kind


def row_groups(metadata: Any, first: int) -> Iterator[tuple[int, int]]:
    """Give each row group from one on, and the rows before it."""
    start = sum(metadata.row_group(i).num_rows for i in range(first))
    for group in range(first, metadata.num_row_groups):
        yield group, start
        start += metadata.row_group(group).num_rows


def stretches(
    shard: Shard,
    metadata: Any,
    choice: Choice,
    group: int,
    start: int,
    before: int,
    at_once: int,
    bounds: Bounds = ANY_MEMORY,
) -> Iterator[tuple[int, Any]]:
    """Give the columns of each stretch of a row group, and the rows of the file before it.

    `start` is the rows before the group, `before` those that are done with already.
    """
    with streams.opened(shard) as stream:
        file = open_parquet(stream, metadata)
        paths = [*choice.texts, *([choice.id] if choice.id else []), *choice.columns.values()]
        columns = sorted({".".join(path) for path in paths if _type_at(file.schema_arrow, path)})
        chunks = _chunks(metadata.row_group(group), columns)
        _check_pages(stream, group, chunks, bounds)
        rows = _batch_rows(metadata.row_group(group).num_rows, chunks, at_once)
        try:
            for batch in file.iter_batches(
                rows, row_groups=[group], columns=columns, use_threads=False
            ):
                done = min(max(before - start, 0), len(batch))
                if done < len(batch):
                    yield start + done, batch.slice(done)
                start += len(batch)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise damaged(shard, error) from None
        stream.check()


def _chunks(group: Any, columns: list[str]) -> list[Any]:
    """Give what a row group holds of some columns."""
    prefixes = tuple(f"{name}." for name in columns)
    chunks = (group.column(i) for i in range(group.num_columns))
    return [chunk for chunk in chunks if f"{chunk.path_in_schema}.".startswith(prefixes)]


def _check_pages(stream: Stream, group: int, chunks: list[Any], bounds: Bounds) -> None:
    """Refuse a page that would take too much memory: it is unpacked whole, few rows or many."""
    if bounds.memory is None:
        return
    for chunk in chunks:
        if chunk.total_uncompressed_size <= bounds.part:
            continue
        largest = max(unpacked_sizes(stream.native_file, chunk), default=0)
        if largest > bounds.part:
            raise bounds.too_much(
                f"row group {group + 1} of {stream.shard.name} holds {size(largest)} of column "
                f"{quoted(chunk.path_in_schema)} in one page",
                bounds.part,
            )


def _batch_rows(rows: int, chunks: list[Any], batch_bytes: int) -> int:
    # What is coded as a repeat takes no room in the file, but its eight bytes when it is read.
    weight = sum(max(chunk.total_uncompressed_size, 8 * chunk.num_values) for chunk in chunks)
    return int(min(max(batch_bytes * rows // max(weight, 1), 1), MAX_ROWS))


def parse_rows(
    shard: Shard, number: int, batch: Any, before: int, choice: Choice, options: ReadOptions
) -> Piece:
    """Make documents of a stretch of rows."""
    records = np.arange(before + 1, before + 1 + len(batch))
    found = [_texts(_at(batch, path), choice) for path in choice.texts]
    texts, wrong = joined_texts([one for one, _ in found]), np.any([w for _, w in found], axis=0)
    name = ", ".join(".".join(path) for path in choice.texts)
    problems = [(wrong, f"the text in {quoted(name)} is not valid UTF-8, or lacks a token")]
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
    texts = decoded(column).cast(TEXT)
    return texts, invalid(texts)


def _ids(column: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Give ids, and which rows have none."""
    column = decoded(column)
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        ids = column.cast(pa.int64())
    elif column.type in STRINGS:
        ids = column.cast(pa.string())
    else:
        values = column.to_pylist()
        kept = [not is_missing(v) and not isinstance(v, (dict, list, bytes)) for v in values]
        filler = next((v for v, is_id in zip(values, kept, strict=True) if is_id), 0)
        ids = id_array([v if is_id else filler for v, is_id in zip(values, kept, strict=True)])
        return ids, ~np.array(kept, np.bool_)
    without = ids.is_null().to_numpy(zero_copy_only=False)
    return ids, (without | invalid(ids)) if ids.type == pa.string() else without
