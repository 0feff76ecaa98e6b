"""Tables of results that were written, read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from lookalike.base.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["stored_table", "stored_tables"]

BLOCK_BYTES = 1 << 24
"""Bytes that are parsed at a time: no row is longer."""


def stored_table(path: Path, kind: str, schema: pa.Schema, rows: int | None = None) -> pa.Table:
    """Read a table that was written, of so many rows where that is known."""
    return pa.concat_tables([*stored_tables(path, kind, schema, rows)]).combine_chunks()


def stored_tables(
    path: Path, kind: str, schema: pa.Schema, rows: int | None = None
) -> Iterator[pa.Table]:
    """Read a table that was written, a piece at a time; the first may be empty.

    The schema has the columns that were written, whose types JSON and CSV do not tell; in a Parquet
    file there may be more.
    """
    found = 0
    try:
        for table in _tables(path, kind, schema):
            lost = [
                name
                for name in schema.names
                if name not in table.column_names or (kind == "jsonl" and table[name].null_count)
            ]
            if lost:
                raise SourceError(
                    f"{path} is not as it was written, without {', '.join(lost)}: run again"
                )
            found += len(table)
            yield table
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = "it is gone" if not path.exists() else " ".join(str(error).split())
        raise SourceError(f"{path} cannot be read, {reason}: run again") from None
    if rows is not None and found != rows:
        raise SourceError(f"{path} is not as it was written, {found:,} rows of {rows:,}: run again")


def _tables(path: Path, kind: str, schema: pa.Schema) -> Iterator[pa.Table]:
    if kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            found = file.schema_arrow
            yield found.empty_table()
            for batch in file.iter_batches():
                yield pa.table(batch).replace_schema_metadata(found.metadata)
    elif kind == "csv":
        from pyarrow import csv

        yield csv.read_csv(
            path,
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, strings_can_be_null=False
            ),
        )
    elif not path.stat().st_size:
        yield schema.empty_table()
    else:
        from pyarrow import json

        yield json.read_json(
            path,
            read_options=json.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="error"
            ),
        )
