"""The bytes of a shard cut into blocks of whole records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.read.streams import ANY_MEMORY, PIECE_BYTES, UNPACKED_BYTES, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds, Stream

__all__ = ["Block", "Cut", "Lines", "blocks", "closed", "line_at", "never_closed", "units", "width"]


class Cut(Protocol):
    """A way to tell where records end."""

    @property
    def encoding(self) -> str:
        """Of the records."""

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole record ends, and how many there are up to there."""

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each record ends; what is left over at the end is a record, too."""

    def resumes(self) -> bool:
        """Tell whether the next record can be found after one that is too long."""

    def unclosed(self, data: bytes) -> tuple[int, int] | None:
        """Give where a quote opens that is not closed in some records, and where its line ends."""

    @property
    def reach(self) -> int:
        """Give the bytes in which the end of a record is told; 0 where it is a single character."""


@dataclass(frozen=True)
class Lines:
    """Records that end where a line does."""

    encoding: str = "utf-8"
    reach: int = 0

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole line ends, and how many there are up to there."""
        if width(self.encoding) == 1:
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
    return 2 if encoding.startswith("utf-16") else 1


def units(data: bytes, encoding: str) -> NDArray[Any]:
    """View bytes as code units; half a unit at the end is left out."""
    kinds = {"utf-16-le": "<u2", "utf-16-be": ">u2"}
    return np.frombuffer(data, kinds.get(encoding, "u1"), len(data) // width(encoding))


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
    """Of the byte after it, or after what was skipped."""
    problem: str = ""
    """What is wrong with its only record, which was skipped."""

    @property
    def next(self) -> tuple[int, int]:
        """Where the block after it begins, and how many records lie before."""
        return self.end, self.first - 1 + self.count

    def stretch(self, cut: Cut, first: int, count: int) -> Block:
        """Give some of its records that are side by side, as a block of their own."""
        if count == self.count:
            return self
        ends = np.append(0, cut.ends(self.data))
        begin, end = ends[[first - self.first, first - self.first + count]].tolist()
        data, start = self.data[begin:end], self.start + begin
        return Block(data, start, first, count, self.consumed, self.start + end)


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
            have = len(pending)
            size_to_read = min(max(size - have, have, 2), max(bounds.record + 2 - have, 2))
            piece = stream.read(size_to_read)
            at_end = len(piece) < size_to_read and stream.broken is None
            pending = pending + piece if pending else piece
            end, count = cut.last(pending)
            if not end and len(pending) > bounds.record:
                problem = _too_long(stream.shard, before + 1, cut, pending, start, bounds)
                if not skip_bad:
                    raise problem
                end, pending, at_end = _skip_too_long(stream, cut, pending)
                yield Block(b"", start, before + 1, 1, stream.consumed, end, problem.raw)
                start, before, end = end, before + 1, 0
        quote = cut.unclosed(pending[end:]) if at_end and len(pending) > end else None
        if quote is not None and not end:
            problem = never_closed(stream.shard, before + 1, start + quote[0], cut.encoding)
            if not skip_bad:
                raise problem
            # Its line is bad; those that it would swallow may be good.
            yield Block(b"", start, before + 1, 1, stream.consumed, start + quote[1], problem.raw)
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


def never_closed(shard: Shard, record: int, quote: int, encoding: str) -> SourceError:
    """Say that a quote would take all the rest of a file into one field."""
    return SourceError(
        f"{shard.name}:{record} opens a quote in line {line_at(shard, quote, encoding):,} that is "
        'never closed: close it, or write it twice ("") where it belongs to the text'
    )


def line_at(shard: Shard, place: int, encoding: str) -> int:
    """Give the number of the line that holds a byte of the unpacked file."""
    with opened(shard) as stream:
        lines = Lines(encoding)
        number = 1
        while stream.place < place and (
            piece := stream.read(min(place - stream.place, PIECE_BYTES))
        ):
            number += lines.last(piece)[1]
    return number


def _too_long(
    shard: Shard, record: int, cut: Cut, data: bytes, start: int, bounds: Bounds
) -> SourceError:
    """Say that a record is too long, and which quote makes it so."""
    problem = bounds.too_long(f"{shard.name}:{record}")
    quote = cut.unclosed(data)
    if quote is None:
        return problem
    line = line_at(shard, start + quote[0], cut.encoding)
    return SourceError(
        f"{problem.raw}; the quote that opens in line {line:,} may lack its end, and nothing after "
        "it can be read"
    )


def _skip_too_long(stream: Stream, cut: Cut, pending: bytes) -> tuple[int, bytes, bool]:
    """Skip a record that is too long: give where it ends, and what was read after it."""
    before = pending[-cut.reach :] if cut.reach else b""
    while read := stream.read(UNPACKED_BYTES):
        piece = before + read
        if cut.resumes() and (ends := cut.ends(piece)).size > 1:
            left = piece[int(ends[0]) :]
            return stream.place - len(left), left, False
        if cut.resumes() and int(cut.last(piece)[0]) == len(piece):
            return stream.place, b"", False
        before = piece[-cut.reach :] if cut.reach else b""
    return stream.place, b"", True
