"""Text or not: told by the first bytes of a file, whatever its name."""

from __future__ import annotations

import codecs
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import BinaryFileError, SourceError
from lookalike.base.index_files import NO_DOCUMENT, is_index_head
from lookalike.base.wording import setting
from lookalike.read.encodings import check_no_nul, fits_as_told, holds_controls
from lookalike.read.files import KINDS_ARE_LISTED
from lookalike.read.other_formats import is_compressed, other_format
from lookalike.read.streams import text_encoding_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lookalike.read.encoding_names import Encodings

__all__ = [
    "BINARY",
    "COMPRESSED",
    "HEAD_BYTES",
    "NO_COLUMN",
    "NO_TEXT",
    "STORE_THREADS",
    "UNKNOWN_ENCODING",
    "check_named",
    "look_at",
    "look_at_all",
    "no_text",
]

BINARY, UNKNOWN_ENCODING = "binary", "in an unknown encoding"
COMPRESSED = "compressed (unpack it first)"
NO_TEXT, NO_COLUMN = "without text, perhaps scanned", "without a column of text"
"""Why a file is no text, or holds none."""
HEAD_BYTES = 8 << 10
"""Bytes that tell: no more is read of a file that is no text."""
STORE_THREADS = 16
"""Files of a store that are looked at together: each takes a request."""


def no_text(head: bytes, encodings: Encodings, name: str = "") -> str:
    """Say why the first bytes of a file are no text; nothing where they are, or may be.

    Its name helps to tell the format of one that is none.
    """
    if is_compressed(head):
        return COMPRESSED
    other = other_format(name, head)
    return _undecodable(head, encodings) if other is None else other.reason


def _undecodable(head: bytes, encodings: Encodings) -> str:
    encoding, mark = text_encoding_of(head[:4])
    try:
        check_no_nul(head, "", encodings)
        # Of a longer file the last character may be cut.
        decoder = codecs.getincrementaldecoder(encoding)()
        decoder.decode(head[mark:], final=len(head) < HEAD_BYTES)
    except BinaryFileError:
        return BINARY
    except UnicodeDecodeError:
        if encoding != "utf-8":
            return UNKNOWN_ENCODING
        if fits_as_told(head, encodings):
            return ""
        if holds_controls(head):
            return BINARY
        return UNKNOWN_ENCODING if encodings.strict else ""
    return ""


def look_at(path: str, encodings: Encodings, system: Any = None) -> str:
    """Say why a file is no text; nothing of one that is, or that its reader must refuse."""
    try:
        if system is not None:
            with system.open_input_file(path) as stored:
                return no_text(stored.read(HEAD_BYTES), encodings, path)
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - of many files
            return ""
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - of many files
            return no_text(file.read(HEAD_BYTES), encodings, path)
    except (OSError, ValueError, pa.ArrowException):
        return ""


def look_at_all(places: Iterable[tuple[str, Any]], encodings: Encodings) -> list[str]:
    """Look at files, each a path and the file system that holds it; those of stores together."""
    listed = list(places)
    if all(system is None for _, system in listed):
        return [look_at(path, encodings) for path, _ in listed]
    with ThreadPoolExecutor(STORE_THREADS, thread_name_prefix="lookalike") as pool:
        return list(pool.map(lambda place: look_at(place[0], encodings, place[1]), listed))


def check_named(name: str, path: str, encodings: Encodings, system: Any = None) -> None:
    """Refuse a file that was named, is of no kind by its name, and is no text either."""
    reason = look_at(path, encodings, system)
    if reason == BINARY and system is None and _is_index(path):
        raise SourceError(f"{name} {NO_DOCUMENT}")
    if reason == BINARY:
        raise SourceError(f"{name} is of a kind that cannot be read, {reason}: {KINDS_ARE_LISTED}")
    if reason == COMPRESSED:
        raise SourceError(f"{name} is compressed: unpack it first; {KINDS_ARE_LISTED}")
    if reason and reason != UNKNOWN_ENCODING:
        raise SourceError(f"{name} is {reason}: {KINDS_ARE_LISTED}")
    if reason:
        raise SourceError(
            f"{name} is text {reason}: name it by {setting('encoding')}, or convert it to UTF-8"
        )


def _is_index(path: str) -> bool:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
        return is_index_head(file.read(HEAD_BYTES))
