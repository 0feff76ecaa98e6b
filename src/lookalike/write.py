"""Results to files, whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lookalike.errors import OutputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

__all__ = ["FORMATS", "format_of", "write_atomically", "write_table"]

FORMATS = ("jsonl", "csv", "parquet")

ROWS_AT_A_TIME = 1 << 14


def format_of(path: str | os.PathLike[str]) -> str:
    """Tell the format from a file's name."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise SettingsError(
            f"the format of {os.fspath(path)} is not known by its name: "
            f"end it in {', '.join('.' + name for name in FORMATS)}, or name a format"
        )
    return suffix


def write_table(table: pa.Table, stream: IO[bytes], kind: str) -> None:
    """Write a table to a binary stream as JSON lines, CSV or Parquet."""
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, stream, compression="zstd")
        return
    if kind not in FORMATS:
        raise SettingsError(f"format {kind!r} is unknown: use {', '.join(FORMATS)}")
    if kind == "csv":
        stream.write(_csv_line(table.column_names))
    for batch in table.to_batches(max_chunksize=ROWS_AT_A_TIME):
        rows = batch.to_pylist()
        if kind == "csv":
            lines = b"".join(_csv_line(row.values()) for row in rows)
        else:
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        stream.write(lines)


def _csv_line(values: object) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)  # type: ignore[arg-type]
    return line.getvalue().encode()


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], None]) -> None:
    """Let `write` fill a file beside the target, and put it in the target's place when it is whole.

    The target is untouched until then; nothing is left behind where writing fails.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        # A temporary file is its owner's alone; the result is as any file the user makes.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
