"""Results to files, whole or not at all."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import re
from contextlib import contextmanager
from datetime import date
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lookalike.base.errors import OutputError, SettingsError
from lookalike.base.lock import try_lock
from lookalike.base.wording import quoted, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

__all__ = [
    "FORMATS",
    "PART",
    "beside",
    "check_apart",
    "check_new",
    "check_targets",
    "format_of",
    "is_device",
    "json_text",
    "work_beside",
    "write_atomically",
    "write_table",
    "write_tables",
]

FORMATS = ("jsonl", "csv", "parquet")

BATCH_ROWS = 1 << 14
SURROGATES = re.compile("[\ud800-\udfff]")
"""What stands for the bytes of a file name that is no UTF-8, and has no bytes in it."""
PART = "part"
"""What a file is called that is not whole yet."""
MAX_NAME_BYTES = 200
"""Bytes of a name to which an ending can be put."""


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
    write_tables(iter([table]), stream, kind)


def write_tables(tables: Iterator[pa.Table], stream: IO[bytes], kind: str) -> None:
    """Write tables of the same columns as one; there is at least one, which may be empty.

    On a terminal what is not printable is escaped; files and pipes get every value as it is.
    """
    if kind not in FORMATS:
        raise SettingsError(f"format {quoted(kind)} is unknown: use {', '.join(FORMATS)}")
    first = next(tables)
    if kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(stream, first.schema, compression="zstd") as writer:
            for table in chain([first], tables):
                if len(table):
                    writer.write_table(table)
        return
    printable = stream.isatty()
    if kind == "csv":
        stream.write(_csv_line(first.column_names, printable=printable))
    for table in chain([first], tables):
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            rows = batch.to_pylist()
            if kind == "csv":
                lines = b"".join(_csv_line(row.values(), printable=printable) for row in rows)
            else:
                lines = "".join(f"{json_text(row, printable=printable)}\n" for row in rows).encode()
            stream.write(lines)


def _csv_line(values: Iterable[Any], *, printable: bool) -> bytes:
    line = io.StringIO()
    values = [_time_text(value) if isinstance(value, date) else value for value in values]
    # Only what is in the end of a line is quoted for it, and readers end one at either.
    csv.writer(line, lineterminator="\r\n").writerow(map(visible, values) if printable else values)
    return line.getvalue().removesuffix("\r\n").encode() + b"\n"


def json_text(value: Any, *, indent: int | None = None, printable: bool = False) -> str:
    """Write a value as JSON that can be encoded; `printable` makes all of it fit for a terminal.

    What is escaped is the same value to every reader of JSON.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=_time_text)
    if not printable:
        return SURROGATES.sub(_escaped, text)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _time_text(value: Any) -> str:
    """Write a date or a timestamp as ISO 8601 has it."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not of JSON")


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def beside(target: Path, what: str) -> Path:
    """Give the hidden place beside a target at which a job keeps something of its own."""
    name = os.fsencode(target.name)
    short_name = (
        target.name if len(name) <= MAX_NAME_BYTES else hashlib.sha256(name).hexdigest()[:16]
    )
    return target.with_name(f".{short_name}.lookalike-{what}")


def work_beside(out: str | os.PathLike[str] | None) -> Path | None:
    """Give the work folder of a job that writes to a place: hidden, beside it.

    Beside a pipe or a device there is none.
    """
    if out is None or is_device(out):
        return None
    return beside(Path(out).absolute(), "work")


def check_targets(
    targets: Sequence[str | os.PathLike[str]], sources: Sequence[str | os.PathLike[str]]
) -> None:
    """Refuse, before a job begins, targets that cannot be written or that are read from."""
    seen = set()
    for name in targets:
        target = Path(os.path.realpath(name))
        if not target.parent.is_dir():
            raise OutputError(f"{name} cannot be written: there is no folder {target.parent}")
        if target.is_dir():
            raise OutputError(f"{name} cannot be written: it is a folder")
        if target in seen:
            raise OutputError(f"{name} is named twice: write to two files")
        seen.add(target)
        for source in sources:
            read = Path(os.path.realpath(source))
            if target == read or (read.is_dir() and target.exists() and read in target.parents):
                raise OutputError(
                    f"{name} is read from, and input is never changed: write to another file"
                )


def check_apart(folder: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse a folder of results that cannot be, or in or around what is read."""
    target = Path(os.path.realpath(folder))
    if not target.parent.is_dir():
        raise OutputError(f"{os.fspath(folder)} cannot be made: there is no folder {target.parent}")
    for source in sources:
        read = Path(os.path.realpath(source))
        if target == read or read in target.parents or target in read.parents:
            raise OutputError(
                f"{os.fspath(folder)} and {os.fspath(source)} are one inside the other, and input "
                "is never changed: write to a folder elsewhere"
            )


def check_new(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder of results that holds something."""
    place = Path(os.path.realpath(folder))
    if place.exists() and not place.is_dir():
        raise OutputError(f"{os.fspath(folder)} is a file: name a folder that is new or empty")
    if place.exists() and any(place.iterdir()):
        raise OutputError(f"{os.fspath(folder)} is not empty: name a folder that is new or empty")


def is_device(path: str | os.PathLike[str]) -> bool:
    """Tell whether a target is a pipe or a device, beside which nothing can be kept."""
    return Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a file beside the target, and put it in the target's place when it is whole.

    The target is untouched until then; nothing is left behind where writing fails, and what a
    killed process leaves, the next to write there takes over. A link is followed. What is no file,
    as a pipe or a device, is written to as it is.
    """
    target = Path(os.path.realpath(path))
    temporary = beside(target, PART)
    try:
        if is_device(path):
            # By the name that was given: the real one of a pipe leads nowhere.
            with Path(path).open("wb") as stream:
                write(stream)
            return
        with _alone(temporary) as stream:
            try:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
                # As what it replaces, or as any new file.
                if target.exists():
                    temporary.chmod(target.stat().st_mode & 0o777)
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise _unwritable(path, error) from None


@contextmanager
def _alone(path: Path) -> Iterator[IO[bytes]]:
    """Open an empty file to write, and hold it against others who would write to it."""
    with path.open("ab") as stream:
        if not try_lock(stream.fileno()):
            raise OutputError(f"another process is writing {path}: wait for its end")
        stream.truncate(0)
        yield stream


def _unwritable(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Say that a file cannot be written, and where there is no room what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT) and not is_device(path)
    remedy = "; free some space, and run the same again" if full else ""
    return OutputError(f"{os.fspath(path)} cannot be written: {error.strerror or error}{remedy}")
