"""The records of a shard with columns added to each, in the format of the shard."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import OutputError
from lookalike.base.wording import quoted, setting
from lookalike.read import delimited, streams
from lookalike.read.blocks import Cut, Lines, blocks
from lookalike.read.encodings import table_encoding
from lookalike.read.parquet import open_parquet, read_rows
from lookalike.read.record_copies import (
    PIECE_BYTES,
    chosen_groups,
    copied_table,
    packed_as,
    parquet_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.read.fields import ReadOptions
    from lookalike.read.files import Shard

    Added = Callable[[int, int], pa.Table]

__all__ = ["ANNOTATED", "annotate_records", "refuse_taken"]

ANNOTATED = ("jsonl", "csv", "tsv", "parquet", "arrow", "orc")
"""Kinds of shards whose records have fields with names, to which others can be added."""
LINE_END = re.compile(r"\r?\n?\Z")


def annotate_records(
    shard: Shard, records: NDArray[np.int64], added: Added, target: Path, options: ReadOptions
) -> None:
    """Write records of a shard, by their sorted numbers, with columns added.

    `added` gives the columns of some of these records, from one place among them to another.
    """
    if shard.kind == "parquet":
        _annotate_rows(shard, records, added, target)
        return
    if shard.kind in ("arrow", "orc"):
        _annotate_batches(shard, records, added, target)
        return
    with streams.opened(shard) as stream, packed_as(shard, target) as written:
        for text in _lines(stream, records, added, options):
            written.write(text)


def refuse_taken(names: Sequence[str], added: pa.Schema, where: str) -> None:
    """Refuse columns that are there already."""
    for name in added.names:
        if name in names:
            raise OutputError(
                f"{where} has a column {quoted(name)} already, which {setting('annotate')} adds: "
                f"rename it in the source, or leave out {setting('annotate')}"
            )


def _lines(
    stream: streams.Stream, records: NDArray[np.int64], added: Added, options: ReadOptions
) -> Iterator[bytes]:
    """Give the bytes of records with columns added, with the mark and the header before them."""
    shard, head = stream.shard, stream.head()
    encoding, mark = table_encoding(stream, options.encodings)
    yield head[:mark]
    schema = added(0, 0).schema
    cut: Cut = Lines(encoding)
    first, layout = 1, None
    if shard.kind in delimited.DELIMITERS:
        layout = delimited.read_layout(shard, options)
        cut, first = layout.cut, 1 if options.no_header else 0
    last = int(records[-1]) if len(records) else 0
    for block in blocks(stream, cut, mark, first - 1, PIECE_BYTES, skip_bad=True):
        ends = cut.ends(block.data)
        starts = np.concatenate([[0], ends[:-1]])
        if block.first == 0 and layout is not None:
            header = block.data[: int(ends[0])].decode(encoding)
            refuse_taken(layout.names, schema, shard.name)
            yield _with_fields(header, layout.delimiter, schema.names).encode(encoding)
        low, high = np.searchsorted(records, [max(block.first, 1), block.first + block.count])
        rows = added(int(low), int(high)).to_pylist()
        for record, row in zip(records[low:high].tolist(), rows, strict=True):
            place = record - block.first
            text = block.data[int(starts[place]) : int(ends[place])].decode(encoding)
            if layout is None:
                text = _with_members(text, row, schema, f"{shard.name}:{record}")
            else:
                fields = [_field(value) for value in row.values()]
                text = _with_fields(text, layout.delimiter, fields)
            yield text.encode(encoding)
        if block.first + block.count > last:
            break  # what is damaged further on was skipped by the reader, too
    stream.check()


def _with_members(line: str, row: dict[str, Any], schema: pa.Schema, where: str) -> str:
    """Add members to the object of a line."""
    whole = line.rstrip(" \t\r\n")
    # A name may be written with escapes, or stand further down: then only reading it tells.
    if "\\u" in whole or any(f'"{name}"' in whole for name in row):
        refuse_taken(list(json.loads(whole)), schema, where)
    before = whole.removesuffix("}").rstrip(" \t\r\n")
    comma = "" if before.endswith("{") else ", "
    return f"{before}{comma}{json.dumps(row)[1:]}{line[len(whole) :]}"


def _with_fields(record: str, delimiter: str, fields: Sequence[str]) -> str:
    """Add fields to a record."""
    end = LINE_END.search(record)
    at = len(record) if end is None else end.start()
    return delimiter.join([record[:at], *fields]) + record[at:]


def _field(value: Any) -> str:
    """Write a value as other programs read it; nothing for none."""
    return "" if value is None else json.dumps(value)


def _annotate_rows(shard: Shard, records: NDArray[np.int64], added: Added, target: Path) -> None:
    """Write rows of a Parquet file with its schema and the columns added."""
    from pyarrow import parquet as pq

    extra = added(0, 0).schema
    with streams.opened(shard) as stream:
        file = open_parquet(stream)
        schema = file.schema_arrow
        refuse_taken(schema.names, extra, shard.name)
        for field in extra:
            schema = schema.append(field)
        with (
            target.open("wb") as written,
            pq.ParquetWriter(written, schema, **parquet_options(file)) as writer,
        ):
            start = 0
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                low, high = np.searchsorted(records, [start + 1, start + rows + 1]).tolist()
                if high > low:
                    table = read_rows(shard, file, group, int(records[high - 1]) - start)
                    if high - low < len(table):
                        table = table.take(pa.array(records[low:high] - start - 1))
                    columns = [*table.columns, *added(low, high).columns]
                    whole = pa.table(columns, schema=schema)
                    writer.write_table(whole, row_group_size=max(len(whole), 1))
                start += rows
        stream.check()


def _annotate_batches(shard: Shard, records: NDArray[np.int64], added: Added, target: Path) -> None:
    """Write rows of an Arrow or ORC file with its schema and the columns added."""
    with streams.opened(shard) as stream, target.open("wb") as written:
        table, opened = copied_table(shard, stream)
        extra = added(0, 0).schema
        refuse_taken(table.schema.names, extra, shard.name)
        schema = table.schema
        for field in extra:
            schema = schema.append(field)
        done = 0
        with opened(written, schema) as writer:
            for batch in chosen_groups(table, stream, records):
                columns = [*batch.columns, *added(done, done + len(batch)).columns]
                writer.write(pa.table(columns, schema=schema))
                done += len(batch)
