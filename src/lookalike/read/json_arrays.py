"""One array of JSON, or one object: its elements, some at a time, given as JSON lines.

Where elements end is told by quotes and brackets alone; what they hold is read by `jsonl`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.kernels.json_elements import element_commas
from lookalike.read.blocks import Block, closed, units, width
from lookalike.read.encoding_names import label
from lookalike.read.encodings import stands_alone, table_encoding
from lookalike.read.streams import ANY_MEMORY, UNPACKED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.read.encoding_names import Encodings
    from lookalike.read.streams import Bounds, Stream

__all__ = ["Elements", "Opening", "as_lines", "elements", "read_opening"]

HEAD_BYTES = 1 << 16
BLANK = b" \t\r\n"
STRUCTURE = '[]{}",\\'
"""What tells where elements end, and is looked for in bytes as they are stored."""
MAX_GAP = 64
"""Blanks before an element that are left out of its line, at the most."""

IS_BLANK = np.zeros(256, np.bool_)
IS_BLANK[list(BLANK)] = True


@dataclass(frozen=True)
class Opening:
    """How a file begins."""

    encoding: str
    start: int
    """Of the first element, in unpacked bytes."""
    is_array: bool
    """Not one object alone."""
    holds_objects: bool
    """Elements are records; others are texts or tokens themselves."""


class Scan(NamedTuple):
    """Where elements end in some bytes, in bytes."""

    commas: NDArray[np.int64]
    """Those between elements."""
    end: int
    """Where the bracket stands that closes the array; -1 where it is not among them."""
    depth: int
    """Brackets that are open at the end of the bytes."""
    state: int
    """Whether a string is, and what it ends with."""


@dataclass(frozen=True)
class Elements:
    """Elements of an array, each with the comma after it."""

    encoding: str
    reach: int = 0

    def last(self, data: bytes) -> tuple[int, int]:
        """Give where the last whole element ends, and how many there are up to there."""
        commas = self.scan(data).commas
        return (int(commas[-1]) + width(self.encoding), len(commas)) if len(commas) else (0, 0)

    def ends(self, data: bytes) -> NDArray[np.int64]:
        """Give where each element ends; the last may have no comma."""
        return closed(self.scan(data).commas + width(self.encoding), data)

    def resumes(self) -> bool:
        """Brackets tell where the next element begins, whatever the length of one."""
        return True

    def unclosed(self, data: bytes) -> None:
        """An element that is not whole is told by the brackets."""

    def scan(self, data: bytes, depth: int = 0, state: int = 0) -> Scan:
        """Look for the ends of elements, from so many open brackets and a state on."""
        plain = _plain(data, self.encoding)
        commas = np.empty(len(plain), np.int64)  # of which little is ever touched
        many, end, depth, state = element_commas(
            np.frombuffer(plain, np.uint8), depth, state, commas
        )
        scale = width(self.encoding)
        return Scan(commas[:many] * scale, end * scale if end >= 0 else -1, depth, state)

    def is_blank(self, data: bytes) -> bool:
        """Tell whether there is nothing but white space."""
        return not _plain(data, self.encoding).strip(BLANK)


def _plain(data: bytes, encoding: str) -> bytes:
    """Give a byte for each code unit, in which every ASCII character is itself."""
    if width(encoding) == 1:
        return data
    codes = units(data, encoding)
    return np.where(codes < 128, codes, 0).astype(np.uint8).tobytes()


def read_opening(stream: Stream, encodings: Encodings) -> Opening:
    """Read how a file begins; nothing is lost of it."""
    encoding, mark = table_encoding(stream, encodings)
    if not stands_alone(STRUCTURE, encoding):
        raise SourceError(
            f"{stream.shard.name} is an array of JSON, which cannot be read in {label(encoding)}: "
            "convert it to UTF-8, or give JSON Lines"
        )
    head = stream.head(HEAD_BYTES)
    plain = _plain(head[mark:], encoding)
    begin = len(plain) - len(plain.lstrip(BLANK))
    is_array = plain[begin : begin + 1] == b"["
    first = plain[begin + is_array :].lstrip(BLANK)[:1]
    start = mark + (begin + is_array) * width(encoding)
    return Opening(encoding, start, is_array, holds_objects=first in (b"{", b"]", b""))


def elements(
    stream: Stream,
    opening: Opening,
    start: int,
    before: int,
    size: int,
    *,
    skip_bad: bool = False,
    bounds: Bounds = ANY_MEMORY,
) -> Iterator[Block]:
    """Cut an array, from a place with so many elements before it, into blocks of about a size.

    Their bytes are those of the file, with the commas between elements.
    """
    cut = Elements(opening.encoding)
    start = max(start, opening.start)
    stream.skip_to(start)
    if not opening.is_array:
        if start == opening.start:
            yield _whole(stream, start, bounds)
        return
    size += size % 2  # code units of two bytes stay whole
    pending = b""
    while True:
        have = len(pending)
        asked = min(max(size - have, have, 2), max(bounds.record + 2 - have, 2))
        piece = stream.read(asked)
        at_end = len(piece) < asked and stream.broken is None
        pending = pending + piece if pending else piece
        found = cut.scan(pending)
        end, count = _last(found, pending, cut)
        if end:
            yield Block(pending[:end], start, before + 1, count, stream.consumed, start + end)
            start, before, pending = start + end, before + count, pending[end:]
        if found.end >= 0:
            _check_rest(stream, cut, pending[found.end - end + width(cut.encoding) :])
            return
        if at_end:
            raise SourceError(
                f"{stream.shard.name} is not whole: the array that it begins with is never closed; "
                "make the file again"
            )
        if not end and len(pending) > bounds.record:
            problem = bounds.too_long(f"{stream.shard.name}:{before + 1}")
            if not skip_bad:
                raise problem
            after, pending = _skip_element(stream, cut, pending, start)
            yield Block(b"", start, before + 1, 1, stream.consumed, after, problem.raw)
            start, before = after, before + 1


def _last(found: Scan, data: bytes, cut: Elements) -> tuple[int, int]:
    """Give where the last whole element ends, and how many there are up to there."""
    commas = found.commas
    end = int(commas[-1]) + width(cut.encoding) if len(commas) else 0
    if found.end < 0 or cut.is_blank(data[end : found.end]):
        return end, len(commas)
    return found.end, len(commas) + 1


def _whole(stream: Stream, start: int, bounds: Bounds) -> Block:
    """Give the one object that a file is."""
    data = stream.read(bounds.record + 1)
    if len(data) > bounds.record:
        raise bounds.too_long(f"{stream.shard.name}:1")
    if stream.broken is not None:
        raise stream.broken
    return Block(data, start, 1, 1, stream.consumed, start + len(data))


def _check_rest(stream: Stream, cut: Elements, rest: bytes) -> None:
    """Refuse what follows upon an array: it would be skipped."""
    while rest:
        if not cut.is_blank(rest):
            raise SourceError(
                f"{stream.shard.name} goes on after the end of its array: give one array, or "
                "JSON Lines"
            )
        rest = stream.read(UNPACKED_BYTES)
    if stream.read(1):
        _check_rest(stream, cut, stream.read(UNPACKED_BYTES))


def _skip_element(stream: Stream, cut: Elements, data: bytes, start: int) -> tuple[int, bytes]:
    """Pass over an element that is too long: give where the next begins, and what was read."""
    found, place = Scan(np.empty(0, np.int64), -1, 0, 0), start
    while data:
        found = cut.scan(data, found.depth, found.state)
        if len(found.commas):
            after = int(found.commas[0]) + width(cut.encoding)
            return place + after, data[after:]
        if found.end >= 0:
            return place + found.end, data[found.end :]
        place += len(data)
        data = stream.read(UNPACKED_BYTES)
    return place, b""


def as_lines(block: Block, opening: Opening) -> Block:
    """Give the elements of a block one a line, as UTF-8; those that are no records as texts."""
    data = block.data
    if opening.encoding != "utf-8":
        data = _as_utf8(data, opening.encoding)
    commas = Elements("utf-8").scan(data).commas if opening.is_array else np.empty(0, np.int64)
    # A break of lines is a blank as good as another, and as wrong within a string.
    whole = np.frombuffer(bytearray(data.replace(b"\n", b"\r")), np.uint8)
    if opening.holds_objects:
        whole[commas] = ord("\n")
        return replace(block, data=_without_gaps(whole, commas).tobytes().strip(b"\r \t"))
    starts = [0, *(commas + 1).tolist()]
    view = whole.tobytes()
    lines = [view[a:b] for a, b in zip(starts, [*commas.tolist(), len(view)], strict=True)]
    texts = (b'{"text": %b}' % line if line.strip(BLANK) else b"" for line in lines)
    return replace(block, data=b"\n".join(texts))


def _as_utf8(data: bytes, encoding: str) -> bytes:
    """Give UTF-8; of what is no character what is no UTF-8, for the line to be refused by."""
    wrong = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
    return data.decode(encoding, wrong).encode("utf-8", "surrogatepass")


def _without_gaps(data: NDArray[np.uint8], breaks: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Leave out the blanks between the break of a line and the element that follows.

    Lines that begin with a brace are read by Arrow, in a fraction of the time.
    """
    kept = np.ones(len(data), np.bool_)
    after = breaks + 1
    for _ in range(MAX_GAP):
        after = after[after < len(data)]
        after = after[IS_BLANK[data[after]]]
        if not len(after):
            break
        kept[after] = False
        after = after + 1
    return data if kept.all() else data[kept]
