"""Where results go: a screen, a pipe or a file, and in which format."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

__all__ = ["discard_rest", "kind_of", "read_by_another", "show_facts", "write_out"]


def kind_of(options: dict[str, Any], *, as_json: bool = False) -> str | None:
    """Tell what standard output gets: a table, rows in some format, or None for neither."""
    from lookalike.base.errors import SettingsError

    given, out = options.get("format"), options.get("out")
    if as_json and out is None and given is not None:
        raise SettingsError(
            "--json and --format cannot be used together: give one, or a file with -o"
        )
    if as_json or out is not None:
        return None
    if given == "parquet" and sys.stdout.isatty():
        raise SettingsError("Parquet is not for the screen: name a file with --out")
    return given or "table"


@contextmanager
def read_by_another() -> Iterator[None]:
    """Write what another program may stop reading: what comes after goes on, and the status too."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard_rest()


def discard_rest() -> None:
    """Write no more to standard output: Python would try, and fail, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_out(tables: Iterator[pa.Table], kind: str, seconds: dict[str, float]) -> None:
    """Write tables to standard output; the time that it takes is put to that of the stages."""
    from lookalike.base.timing import timed
    from lookalike.write.files import write_tables

    sys.stdout.flush()
    with timed(seconds, "write"):
        write_tables(tables, sys.stdout.buffer, kind)
        sys.stdout.buffer.flush()


def show_facts(record: dict[str, Any], **more: Any) -> None:
    """Write the record of a run to standard output as one line of JSON."""
    from lookalike.cli.screen import show_json

    show_json(record | more)
