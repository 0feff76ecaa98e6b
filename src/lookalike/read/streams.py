"""The bytes of a shard: opened, unpacked, and bounded before they are read."""

from __future__ import annotations

import codecs
import io
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.base.wording import setting
from lookalike.read.files import Shard, one_line, unreadable
from lookalike.read.unpacking import MemberFile, XzFile

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ANY_MEMORY",
    "PIECE_BYTES",
    "RECORD_LIMIT_BYTES",
    "UNPACKED_BYTES",
    "Bounds",
    "Stream",
    "as_utf8",
    "forget",
    "is_utf8",
    "opened",
    "text_encoding_of",
]

RECORD_LIMIT_BYTES = 256 << 20
"""Bytes of a record, or of a text file, at the most: it is held in memory, several times over."""

MEMORY_PER_BYTE = 40
"""Bytes of memory for a byte of a record, at the most: of one that is parsed, or is compared."""

MIN_RECORD_BYTES = 8 << 20
"""Bytes that a record may have whatever the memory."""

UNPACKED_BYTES = 1 << 16
"""Bytes unpacked at once: so many may be lost before a place where a file breaks off."""

PIECE_BYTES = 8 << 20

WIDE_MARKS = ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"))
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def text_encoding_of(head: bytes) -> tuple[str, int]:
    """Tell the encoding of a file that is decoded as a whole, and how long its mark is."""
    # The mark of UTF-16 begins one of UTF-32.
    for mark, encoding in (*WIDE_MARKS, *MARKS):
        if head.startswith(mark):
            return encoding, len(mark)
    return "utf-8", 0


def as_utf8(data: bytes, encoding: str) -> bytes:
    """Give UTF-8 for bytes of another encoding; of UTF-8 itself nothing is checked."""
    return data if encoding == "utf-8" else data.decode(encoding).encode()


def is_utf8(data: bytes) -> bool:
    """Tell whether all of a block is UTF-8, as fast as Arrow can."""
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    array = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


@dataclass(frozen=True)
class Bounds:
    """How large what is read may be, so that it is known before it is read or unpacked."""

    memory: int | None = None
    """Bytes that the job may take; None where nobody said."""

    @property
    def record(self) -> int:
        """Bytes of a record, of a text file or of the markup of a document."""
        if self.memory is None:
            return RECORD_LIMIT_BYTES
        return min(RECORD_LIMIT_BYTES, max(self.memory // MEMORY_PER_BYTE, MIN_RECORD_BYTES))

    @property
    def part(self) -> int:
        """Bytes of what is held whole, not parsed: a page of a column, the pictures of a file."""
        return (
            RECORD_LIMIT_BYTES if self.memory is None else max(self.memory // 8, MIN_RECORD_BYTES)
        )

    def too_long(self, where: str, limit: int | None = None) -> SourceError:
        """Say that a record is too long to be held."""
        limit = self.record if limit is None else limit
        why, remedy = "", ""
        if self.memory is not None and limit < RECORD_LIMIT_BYTES:
            why, remedy = f" with {size(self.memory)} of memory", f"raise {setting('memory')}, "
        return SourceError(
            f"{where} is longer than {limit >> 20} MB, the most that one document may be{why}: "
            f"{remedy}split it or leave it out"
        )

    def too_much(self, what: str, limit: int) -> SourceError:
        """Say that a part of a file would take too much memory."""
        allowed = "" if self.memory is None else f" of the {size(self.memory)} allowed"
        return SourceError(
            f"{what}, more than the {size(limit)}{allowed} that it may take: "
            f"raise {setting('memory')}, or leave it out"
        )


ANY_MEMORY = Bounds()


class Stream:
    """The unpacked bytes of a shard; errors are of the source, in one line."""

    def __init__(self, shard: Shard) -> None:
        """Open the shard, if it is as it was listed."""
        self.shard = shard
        if shard.problem:
            raise SourceError(shard.problem)
        self._file: Any = None
        self._held: pa.Buffer | None = None
        try:
            self._open()
            self.check()
        except BaseException as error:
            self.close()
            if isinstance(error, (OSError, ValueError, pa.ArrowException)):
                raise unreadable(shard.name, error) from None
            raise
        self.place = 0
        self.broken: SourceError | None = None
        self._ahead: bytes | memoryview = b""

    def _open(self) -> None:
        shard = self.shard
        if shard.system is None:
            self._file = open(shard.path, "rb")  # noqa: PTH123, SIM115 - the stream closes it
        else:
            self._file = shard.system.open_input_file(shard.path)
        self._bytes = self._file
        if shard.packed == "xz":
            self._bytes = XzFile(self._file)
        elif shard.packed is not None:
            is_native = isinstance(self._file, pa.NativeFile)
            stored = self._file if is_native else pa.PythonFile(self._file, "r")
            self._bytes = pa.CompressedInputStream(stored, shard.packed)

    @property
    def native_file(self) -> Any:
        """The file as stored, read by Arrow alone: without a lock that threads would wait for."""
        if isinstance(self._file, MemberFile):
            return self._native_member(self._file)
        if self.shard.system is not None:
            return self._file
        file = pa.OSFile(os.fspath(self.shard.path))
        if not os.path.samestat(os.fstat(self._file.fileno()), Path(self.shard.path).stat()):
            raise self._changed()
        return file

    def _native_member(self, file: MemberFile) -> Any:
        """Give a member of an archive to Arrow: in memory, unless any place is reached at once."""
        if file.seeks:
            return pa.PythonFile(file, "r")
        if self._held is None:
            shard, bounds = self.shard, self.shard.system.bounds
            if shard.size > bounds.part:
                what = f"{shard.name}, which is read as a whole out of its archive, has"
                raise bounds.too_much(f"{what} {size(shard.size)}", bounds.part)
            file.seek(0)
            self._held = pa.py_buffer(file.read())
        return pa.BufferReader(self._held)

    def _changed(self) -> SourceError:
        return SourceError(
            f"{self.shard.name} has changed since it was listed: run again when it is complete"
        )

    def check(self) -> None:
        """Refuse a file that is no longer what was listed."""
        shard = self.shard
        if shard.system is None:
            state = os.fstat(self._file.fileno())
            now = state.st_size, state.st_mtime_ns
        else:
            info = shard.system.get_file_info(shard.path)
            now = info.size, info.mtime_ns or 0
        if now != (shard.size, shard.modified):
            raise self._changed()

    def stored(self, place: int) -> Any:
        """Give the file as stored, from a place on, for a reader that unpacks it itself."""
        self._file.seek(place)
        return self._file

    @property
    def consumed(self) -> int:
        """How far the file as stored was read."""
        return int(self._file.tell())

    def read(self, size: int) -> bytes:
        """Give the next bytes: as many as asked for, fewer only at the end or before a break.

        What was read before a break is given, and the next call fails.
        """
        pieces: list[bytes | memoryview] = []
        missing = size
        while missing and (self._ahead or self._fetch(missing)):
            ahead = self._ahead
            # What is left is not copied: members of archives are read in small pieces.
            self._ahead = memoryview(ahead)[missing:] if len(ahead) > missing else b""
            pieces.append(ahead[:missing])
            missing -= len(pieces[-1])
        if self.broken is not None and not pieces:
            raise self.broken
        self.place += size - missing
        return bytes(pieces[0]) if len(pieces) == 1 else b"".join(pieces)

    def _fetch(self, size: int) -> bool:
        """Read ahead, from packed files in steps that do not depend on what is asked for."""
        packed = self.shard.packed
        if self.broken is not None:
            return False
        try:
            self._ahead = self._bytes.read(UNPACKED_BYTES if packed else size)
            if not self._ahead:
                self.check()
        except SourceError as error:
            self.broken = error
        except (OSError, ValueError, pa.ArrowException) as error:
            self.broken = unreadable(self.shard.name, error)
            if packed and not getattr(error, "errno", None):
                self.broken = SourceError(
                    f"{self.shard.name} is not whole: its {packed} data breaks off or is damaged "
                    f"({one_line(error)}); make the file again"
                )
        return bool(self._ahead)

    def whole(self, bounds: Bounds) -> Any:
        """Give the file as stored, for a reader that goes to and fro in it."""
        if self.shard.system is None:
            return self._file
        if self.shard.size > bounds.part:
            raise bounds.too_much(f"{self.shard.name} has {size(self.shard.size)}", bounds.part)
        return io.BytesIO(b"".join(self.rest()))

    def rest(self) -> Iterator[bytes]:
        """Give all bytes from here to the end, piece by piece."""
        while piece := self.read(PIECE_BYTES):
            yield piece

    def head(self, size: int = 4) -> bytes:
        """Give the next bytes, at first those where a mark would be; they stay to be read."""
        head = self.read(size)
        self._ahead = b"".join((head, self._ahead))
        self.place -= len(head)
        return head

    def skip_to(self, place: int) -> None:
        """Go on to a place: at once in a plain file, by unpacking what lies before in others."""
        if self.shard.packed is None:
            try:
                self._file.seek(place)
            except OSError as error:
                raise unreadable(self.shard.name, error) from None
            self.place, self._ahead = place, b""
        while self.place < place and self.read(min(place - self.place, 1 << 20)):
            pass

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def forget(path: str, begin: int, end: int) -> None:
    """Let the system use for something else the memory in which it keeps a part of a file."""
    if not hasattr(os, "posix_fadvise"):
        return
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(file, begin, end - begin, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


@contextmanager
def opened(shard: Shard) -> Iterator[Stream]:
    """Open a shard and close it."""
    stream = Stream(shard)
    try:
        yield stream
    finally:
        stream.close()
