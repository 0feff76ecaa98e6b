"""The bytes of a shard: opened, unpacked, and cut into blocks of whole records."""

from __future__ import annotations

import codecs
import io
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.read.files import Shard, one_line, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "ANY_MEMORY",
    "RECORD_LIMIT",
    "Block",
    "Bounds",
    "Cut",
    "Lines",
    "Stream",
    "as_utf8",
    "blocks",
    "closed",
    "encoding_of",
    "is_utf8",
    "line_at",
    "never_closed",
    "opened",
    "units",
    "width",
]

RECORD_LIMIT = 256 << 20
"""Bytes of a record, or of a text file, at the most: it is held in memory, several times over."""

PER_BYTE = 40
"""Bytes of memory for a byte of a record, at the most: of one that is parsed, or is compared."""

LEAST_RECORD = 8 << 20
"""Bytes that a record may have whatever the memory."""

UNPACKED = 1 << 16
"""Bytes unpacked at once: so many may be lost before a place where a file breaks off."""

PIECE_BYTES = 8 << 20

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def encoding_of(head: bytes, name: str) -> tuple[str, int]:
    """Tell the encoding by the byte order mark, and how long the mark is."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise SourceError(f"{name} is UTF-32 text: convert it to UTF-8")
    for mark, encoding in MARKS:
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
            return RECORD_LIMIT
        return min(RECORD_LIMIT, max(self.memory // PER_BYTE, LEAST_RECORD))

    @property
    def part(self) -> int:
        """Bytes of what is held whole, not parsed: a page of a column, the pictures of a file."""
        return RECORD_LIMIT if self.memory is None else max(self.memory // 8, LEAST_RECORD)

    def too_long(self, where: str, limit: int | None = None) -> SourceError:
        """Say that a record is too long to be held."""
        limit = self.record if limit is None else limit
        why, remedy = "", ""
        if self.memory is not None and limit < RECORD_LIMIT:
            why, remedy = f" with {size(self.memory)} of memory", "raise --memory, "
        return SourceError(
            f"{where} is longer than {limit >> 20} MB, the most that one document may be{why}: "
            f"{remedy}split it or leave it out"
        )

    def too_much(self, what: str, limit: int) -> SourceError:
        """Say that a part of a file would take too much memory."""
        allowed = "" if self.memory is None else f" of the {size(self.memory)} allowed"
        return SourceError(
            f"{what}, more than the {size(limit)}{allowed} that it may take: "
            "raise --memory, or leave it out"
        )

    def check_length(self, shard: Shard) -> None:
        """Refuse a text file that is too long before it is read."""
        if shard.size > self.record:
            raise self.too_long(shard.name)


ANY_MEMORY = Bounds()


class Stream:
    """The unpacked bytes of a shard; errors are of the source, in one line."""

    def __init__(self, shard: Shard) -> None:
        """Open the shard, if it is as it was listed."""
        self.shard = shard
        if shard.problem:
            raise SourceError(shard.problem)
        self._file: Any = None
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
        self._ahead = b""

    def _open(self) -> None:
        shard = self.shard
        if shard.system is None:
            self._file = open(shard.path, "rb")  # noqa: PTH123, SIM115 - the stream closes it
        else:
            self._file = shard.system.open_input_file(shard.path)
        self._bytes = self._file
        if shard.packed is not None:
            stored = self._file if shard.system else pa.PythonFile(self._file, "r")
            self._bytes = pa.CompressedInputStream(stored, shard.packed)

    @property
    def native_file(self) -> Any:
        """The file as stored, read by Arrow alone: without a lock that threads would wait for."""
        if self.shard.system is not None:
            return self._file
        file = pa.OSFile(os.fspath(self.shard.path))
        if not os.path.samestat(os.fstat(self._file.fileno()), Path(self.shard.path).stat()):
            raise self._changed()
        return file

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

    @property
    def consumed(self) -> int:
        """How far the file as stored was read."""
        return int(self._file.tell())

    def read(self, size: int) -> bytes:
        """Give the next bytes: as many as asked for, fewer only at the end or before a break.

        What was read before a break is given, and the next call fails.
        """
        pieces: list[bytes] = []
        missing = size
        while missing and (self._ahead or self._fetch(missing)):
            piece, self._ahead = self._ahead[:missing], self._ahead[missing:]
            pieces.append(piece)
            missing -= len(piece)
        if self.broken is not None and not pieces:
            raise self.broken
        self.place += size - missing
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _fetch(self, size: int) -> bool:
        """Read ahead, from packed files in steps that do not depend on what is asked for."""
        packed = self.shard.packed
        if self.broken is not None:
            return False
        try:
            self._ahead = self._bytes.read(UNPACKED if packed else size)
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

    def head(self) -> bytes:
        """Give the first bytes, where a byte order mark would be; they stay to be read."""
        head = self.read(4)
        self._ahead = head + self._ahead
        self.place = 0
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


class Cut(Protocol):
    """A way to tell where records end."""

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole record ends, and how many there are up to there."""

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each record ends; what is left over at the end is a record, too."""

    def resumes(self) -> bool:
        """Tell whether the next record can be found after one that is too long."""

    def unclosed(self, data: bytes) -> tuple[int, int] | None:
        """Give where a quote opens that is not closed in some records, and where its line ends."""


@dataclass(frozen=True)
class Lines:
    """Records that end where a line does."""

    encoding: str = "utf-8"

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole line ends, and how many there are up to there."""
        if self.encoding == "utf-8":
            end = data.rfind(b"\n") + 1
            return end, data.count(b"\n", 0, end)
        ends = self.breaks(data)
        return (int(ends[-1]), len(ends)) if len(ends) else (0, 0)

    def breaks(self, data: bytes) -> NDArray[np.int64]:
        """Give the place after each end of a line."""
        return (np.flatnonzero(units(data, self.encoding) == 10) + 1) * width(self.encoding)

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each line ends."""
        return closed(self.breaks(data), data)

    def resumes(self) -> bool:
        """A line goes no further than its end, however long."""
        return True

    def unclosed(self, data: bytes) -> None:
        """A line has no quotes that count."""


def width(encoding: str) -> int:
    """Give the bytes of a code unit."""
    return 1 if encoding == "utf-8" else 2


def units(data: bytes, encoding: str) -> NDArray[Any]:
    """View bytes as code units; half a unit at the end is left out."""
    kinds = {"utf-8": "u1", "utf-16-le": "<u2", "utf-16-be": ">u2"}
    return np.frombuffer(data, kinds[encoding], len(data) // width(encoding))


def closed(ends: NDArray[np.int64], data: bytes) -> NDArray[np.int64]:
    """Add the end of the data to the ends of records where the last one lacks its own."""
    if data and (not len(ends) or ends[-1] < len(data)):
        return np.append(ends, len(data))
    return ends


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records of a shard, as bytes."""

    data: bytes
    start: int
    """Of its first byte among the unpacked bytes."""
    first: int
    """Number of its first record, from 1."""
    count: int
    """Records in it."""
    consumed: int
    """How far the file as stored was read."""
    end: int
    """Of the byte after it, or after what was passed over."""
    problem: str = ""
    """What is wrong with its only record, which was passed over."""

    @property
    def next(self) -> tuple[int, int]:
        """Where the block after it begins, and how many records lie before."""
        return self.end, self.first - 1 + self.count


def blocks(
    stream: Stream,
    cut: Cut,
    start: int,
    before: int,
    size: int,
    *,
    skip_bad: bool = False,
    bounds: Bounds = ANY_MEMORY,
) -> Iterator[Block]:
    """Cut a stream, from a place with so many records before it, into blocks of about a size.

    A block is longer only where a record is.
    """
    stream.skip_to(start)
    size += size % 2  # code units of two bytes stay whole
    pending = b""
    at_end = False
    while not at_end or pending:
        end, count = 0, 0
        while not end and not at_end:
            held = len(pending)
            wanted = min(max(size - held, held, 2), max(bounds.record + 2 - held, 2))
            piece = stream.read(wanted)
            at_end = len(piece) < wanted and stream.broken is None
            pending = pending + piece if pending else piece
            end, count = cut.last(pending)
            if not end and len(pending) > bounds.record:
                problem = _giant(stream.shard, before + 1, cut, pending, start, bounds)
                if not skip_bad:
                    raise problem
                end, pending, at_end = _after_giant(stream, cut)
                yield Block(b"", start, before + 1, 1, stream.consumed, end, str(problem))
                start, before, end = end, before + 1, 0
        quote = cut.unclosed(pending[end:]) if at_end and len(pending) > end else None
        if quote is not None and not end:
            problem = never_closed(stream.shard, before + 1, start + quote[0])
            if not skip_bad:
                raise problem
            # Its line is bad; those that it would swallow may be good.
            yield Block(b"", start, before + 1, 1, stream.consumed, start + quote[1], str(problem))
            start, before, pending = start + quote[1], before + 1, pending[quote[1] :]
            continue
        if at_end and quote is None and len(pending) > end:
            tail = int(cut.ends(pending[end:]).size)
            end, count = len(pending), count + tail
        if not end:
            continue
        data = pending[:end] if end < len(pending) else pending
        pending = pending[end:]
        yield Block(data, start, before + 1, count, stream.consumed, start + end)
        start, before = start + end, before + count


def never_closed(shard: Shard, record: int, quote: int) -> SourceError:
    """Say that a quote would take all the rest of a file into one field."""
    return SourceError(
        f"{shard.name}:{record} opens a quote in line {line_at(shard, quote):,} that is never "
        'closed: close it, or write it twice ("") where it belongs to the text'
    )


def line_at(shard: Shard, place: int) -> int:
    """Give the number of the line that holds a byte of the unpacked file."""
    with opened(shard) as stream:
        lines = Lines(encoding_of(stream.head(), shard.name)[0])
        number = 1
        while stream.place < place and (
            piece := stream.read(min(place - stream.place, PIECE_BYTES))
        ):
            number += lines.last(piece)[1]
    return number


def _giant(
    shard: Shard, record: int, cut: Cut, data: bytes, start: int, bounds: Bounds
) -> SourceError:
    """Say that a record is too long, and which quote makes it so."""
    problem = bounds.too_long(f"{shard.name}:{record}")
    quote = cut.unclosed(data)
    if quote is None:
        return problem
    line = line_at(shard, start + quote[0])
    return SourceError(
        f"{problem}; the quote that opens in line {line:,} may lack its end, and nothing after it "
        "can be read"
    )


def _after_giant(stream: Stream, cut: Cut) -> tuple[int, bytes, bool]:
    """Pass over a record that is too long: give where it ends, and what was read after it."""
    while piece := stream.read(UNPACKED):
        if cut.resumes() and (ends := cut.ends(piece)).size > 1:
            left = piece[int(ends[0]) :]
            return stream.place - len(left), left, False
        if cut.resumes() and int(cut.last(piece)[0]) == len(piece):
            return stream.place, b"", False
    return stream.place, b"", True
