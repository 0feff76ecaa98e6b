"""Of which kind files are: told by their names, and by their content where names do not tell."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.read.content import HEAD_BYTES, STORE_THREADS, no_text
from lookalike.read.files import PACKED, PLAIN_TEXT, FileKind, kind_of
from lookalike.read.json_content import json_content
from lookalike.read.other_formats import is_rtf
from lookalike.read.streams import UNPACKED_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lookalike.read.fields import ReadOptions

    Head = Callable[[str | None, int], bytes | None]

__all__ = ["FileKinds"]

LINES = "lines"
WRITTEN = ("text", "html", "jsonl", "json", "csv", "tsv")
"""Kinds of files that are made of lines."""
FIRST_RECORD_BYTES = 1 << 20
"""Bytes in which the first record of JSON must end to tell its fields."""


@dataclass(frozen=True)
class FileKinds:
    """The kinds of files for one reading."""

    options: ReadOptions

    def tell(
        self, name: str, path: str, system: Any = None, *, within: bool = True
    ) -> FileKind | None:
        """Tell the kind of a file; None where neither name nor content tells one.

        A file that was found in a folder or by a pattern (`within`) is text where it holds no
        records, as it is whatever its ending; of one that was named that may be an error.
        """
        return self._told(name, partial(_head, path, system), within=within)

    def tell_member(self, name: str, head: Callable[[int], bytes]) -> FileKind | None:
        """Tell the kind of a file in an archive, of which so many first bytes are given."""

        def unpacked(packed: str | None, most: int) -> bytes | None:
            stored = head(most)
            return stored if packed is None else _read(pa.BufferReader(stored), packed, most)

        return self._told(name, unpacked, within=True)

    def _told(self, name: str, head: Head, *, within: bool) -> FileKind | None:
        kind = kind_of(name)
        if self.options.lines:
            return self._of_lines(kind, name, head, within=within)
        if kind is not None and kind[0] == "json":
            return self._of_json(kind, name, head, within=within)
        if kind is None and name.lower().endswith(".doc") and is_rtf(name, head(None, 8) or b""):
            return "rtf", None
        return kind

    def tell_all(self, files: Iterable[tuple[str, str]], system: Any) -> list[FileKind | None]:
        """Tell the kinds of files of a store, each a name and a path, several at a time."""
        with ThreadPoolExecutor(STORE_THREADS, thread_name_prefix="lookalike") as pool:
            return list(pool.map(lambda file: self.tell(file[0], file[1], system), files))

    def of_input(self) -> str:
        """Tell what standard input holds: JSON Lines, or lines as they are."""
        return LINES if self.options.lines else "jsonl"

    def _of_lines(
        self, kind: FileKind | None, name: str, head: Head, *, within: bool
    ) -> FileKind | None:
        if kind is not None and kind[0] not in WRITTEN:
            return kind
        packed = next((how for end, how in PACKED.items() if name.lower().endswith(end)), None)
        begin = head(packed, HEAD_BYTES) if within or kind is None else b""
        return None if begin and no_text(begin, self.options.encodings) else (LINES, packed)

    def _of_json(self, kind: FileKind, name: str, head: Head, *, within: bool) -> FileKind | None:
        packed = kind[1]
        begin = head(packed, FIRST_RECORD_BYTES)
        if begin is None:
            return "jsonl", packed  # whose reader says what is wrong
        is_whole = len(begin) < FIRST_RECORD_BYTES
        found = json_content(begin, self.options.encodings, is_whole=is_whole)
        records = {"array": "json", "object": "object"}.get(found.form, "jsonl")
        if found.holds_records(self.options) or (packed and found.form == "nothing"):
            return records, packed
        if within or found.form == "other":
            return None if packed else PLAIN_TEXT
        if found.member:
            raise SourceError(
                f"{name} holds one object, and its array {quoted(found.member)} may be the "
                "records: give the array alone, or JSON Lines"
            )
        named = self.options.text is not None or self.options.vector is not None
        if found.is_alone and not packed and not named:
            return PLAIN_TEXT
        return records, packed


def _head(path: str, system: Any, packed: str | None, most: int) -> bytes | None:
    """Give the first bytes of a file, unpacked; None of what cannot be read."""
    try:
        if system is None and not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - of many
            return None
        # Of many files: a path for each takes time.
        stored: Any = open(path, "rb") if system is None else system.open_input_file(path)  # noqa: PTH123, SIM115
    except (OSError, ValueError, pa.ArrowException):
        return None
    with stored:
        return _read(stored, packed, most)


def _read(stored: Any, packed: str | None, most: int) -> bytes | None:
    """Give the first bytes of an open file, unpacked, as far as it can be; None where it cannot."""
    pieces: list[bytes] = []
    missing = most
    try:
        source = stored
        if packed is not None:
            is_native = isinstance(stored, pa.NativeFile)
            native = stored if is_native else pa.PythonFile(stored, "r")
            source = pa.CompressedInputStream(native, packed)
        # In steps: all of a step that a file breaks off in is lost.
        while missing and (piece := source.read(min(missing, UNPACKED_BYTES))):
            pieces.append(piece)
            missing -= len(piece)
    except (OSError, ValueError, pa.ArrowException):
        return b"".join(pieces) or None
    return b"".join(pieces)
