"""Where results go: a screen, a pipe or a file, and in which format."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Format", "kind_of", "write_out"]


class Format(StrEnum):
    """How results are written."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


def kind_of(given: Format | None, out: Path | None) -> str:
    """Tell how results are to be written."""
    from lookalike.base.errors import SettingsError
    from lookalike.write.files import format_of

    if given is None:
        return format_of(out) if out else "table"
    if given is Format.table and out is not None:
        raise SettingsError("a table is for the screen: with --out use jsonl, csv or parquet")
    if given is Format.parquet and out is None and sys.stdout.isatty():
        raise SettingsError("Parquet is not for the screen: name a file with --out")
    return given.value


def write_out(tables: Iterator[pa.Table], kind: str, out: Path | None) -> None:
    """Write tables to a file, whole or not at all, or to standard output."""
    from lookalike.write.files import write_atomically, write_tables

    if out is not None:
        write_atomically(out, lambda stream: write_tables(tables, stream, kind))
        return
    sys.stdout.flush()
    write_tables(tables, sys.stdout.buffer, kind)
    sys.stdout.buffer.flush()
