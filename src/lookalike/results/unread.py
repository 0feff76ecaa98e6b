"""What was not read, by name: files skipped and records that could not be read, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.read.content import BINARY, NO_COLUMN, NO_TEXT, UNKNOWN_ENCODING
from lookalike.results.stored import stored_table
from lookalike.write.files import write_atomically, write_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lookalike.read.files import Unread

__all__ = [
    "SKIPPED",
    "no_texts",
    "none_unread",
    "opened_unread",
    "place_of_unread",
    "table_of",
    "write_unread",
]

SKIPPED = "skipped.jsonl"
RECORD = re.compile(r":\d+\b")
NO_TEXTS = (BINARY, UNKNOWN_ENCODING, NO_TEXT, NO_COLUMN)
"""Reasons why a whole file, in which nothing is wrong, holds no document."""
COLUMNS = pa.schema({"path": pa.large_string(), "reason": pa.large_string()})


def table_of(unread: Sequence[Unread]) -> pa.Table:
    """Lay out paths and reasons, with how many there are of what is not named one by one."""
    reasons = [_reason(one) for one in unread]
    return pa.table({"path": [one.path for one in unread], "reason": reasons}, COLUMNS)


def _reason(one: Unread) -> str:
    """Say why something was not read, beside its path, which a message may begin with."""
    if one.many > 1:
        return f"{one.reason} ({one.many:,})"
    if one.detail:
        return f"{one.reason}: {one.detail}"
    after = one.reason.removeprefix(one.path)
    if after == one.reason or after[:1] not in (" ", ":"):
        return one.reason
    record = RECORD.match(after)
    return f"record {after[1:]}" if record else after.strip(": ")


def none_unread() -> pa.Table:
    """Give the table of a job that read everything."""
    return COLUMNS.empty_table()


def no_texts(unread: pa.Table) -> set[str]:
    """Give the paths of files that are no text."""
    paths, reasons = (unread[name].to_pylist() for name in ("path", "reason"))
    passed = zip(paths, reasons, strict=True)
    return {path for path, reason in passed if reason.partition(": ")[0] in NO_TEXTS}


def write_unread(result: Path, unread: pa.Table) -> None:
    """Write what was not read into the folder of a result, or beside its file; nothing of none."""
    path = place_of_unread(result)
    if len(unread):
        write_atomically(path, lambda stream: write_table(unread, stream, "jsonl"))
    else:
        path.unlink(missing_ok=True)  # of an earlier result


def opened_unread(result: Path, counts: Mapping[str, Any]) -> pa.Table:
    """Read it again."""
    rows = counts.get("unread", 0)
    return stored_table(place_of_unread(result), "jsonl", COLUMNS, rows) if rows else none_unread()


def place_of_unread(result: Path, *, is_folder: bool | None = None) -> Path:
    """Give the file that names what was not read: in the folder of a result, or beside its file."""
    in_folder = result.is_dir() if is_folder is None else is_folder
    return result / SKIPPED if in_folder else result.with_name(f"{result.name}.{SKIPPED}")
