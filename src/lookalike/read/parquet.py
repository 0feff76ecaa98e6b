"""Parquet: row groups, of which only the columns asked for are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.base.wording import quoted, setting
from lookalike.read import streams
from lookalike.read.column_batches import MAX_ROWS, chosen_paths
from lookalike.read.files import one_line
from lookalike.read.parquet_pages import unpacked_sizes
from lookalike.read.streams import ANY_MEMORY, Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.fields import Choice
    from lookalike.read.files import Shard
    from lookalike.read.streams import Stream

__all__ = ["ParquetTable", "open_parquet", "read_rows", "stretches"]

BUFFER_BYTES = 4 << 20
"""Bytes of a column read ahead; without, all of a row group would be."""

LENGTH, MARK = 4, b"PAR1"


def _damaged(shard: Shard, error: Exception) -> SourceError:
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
        raise _damaged(stream.shard, error) from None


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


def read_rows(shard: Shard, file: Any, group: int, many: int) -> pa.Table:
    """Read so many rows of a row group at the least, whatever is damaged after them."""
    try:
        return file.read_row_group(group)
    except (OSError, ValueError, pa.ArrowException) as error:
        found: list[Any] = []
        try:
            for batch in file.iter_batches(many, row_groups=[group], use_threads=False):
                found.append(batch)
                if sum(map(len, found)) >= many:
                    return pa.Table.from_batches(found)
        except (OSError, ValueError, pa.ArrowException):
            pass
        # Those that are compared were read before.
        raise SourceError(
            f"{shard.name} is damaged in other columns than those that are compared "
            f"({one_line(error)}): make the file again, or take the ids of what is kept by "
            f"{setting('list_only')}"
        ) from None


class ParquetTable:
    """The row groups of a file."""

    def __init__(self, shard: Shard, bounds: Bounds) -> None:
        """Read the metadata."""
        self._shard = shard
        self._bounds = bounds
        with streams.opened(shard) as stream:
            file = open_parquet(stream, bounds=bounds)
            self._metadata = file.metadata
            self.schema: pa.Schema = file.schema_arrow
        self.rows: int = self._metadata.num_rows

    def groups(self, first: int) -> Iterator[tuple[int, int, int]]:
        """Give each row group from one on, the rows before it, and its own."""
        start = sum(self._metadata.row_group(i).num_rows for i in range(first))
        for group in range(first, self._metadata.num_row_groups):
            rows = self._metadata.row_group(group).num_rows
            yield group, start, rows
            start += rows

    def stretches(
        self, choice: Choice, group: int, start: int, before: int, at_once: int
    ) -> Iterator[tuple[int, Any]]:
        """Give the columns of each stretch of a row group, and the rows of the file before it."""
        return stretches(
            self._shard, self._metadata, choice, group, start, before, at_once, self._bounds
        )


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
        columns = sorted({".".join(path) for path in chosen_paths(choice, file.schema_arrow)})
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
            raise _damaged(shard, error) from None
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
