"""ORC: stripes of rows, of which only the columns asked for are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.memory import size
from lookalike.read import streams
from lookalike.read.column_batches import check_names, chosen_paths, slices
from lookalike.read.files import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lookalike.read.fields import Choice
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds, Stream

__all__ = ["OrcTable", "open_orc"]

ERRORS = (OSError, ValueError, IndexError, pa.ArrowException)
"""What a broken file may raise."""
FOOTER, STRIPES, STATISTICS = 2, 3, 7
ROWS_OF_STRIPE = 5
STRINGS, SUM_OF_LENGTHS, BINARY = 4, 3, 8
VARIABLE, FIXED_64, BYTES, FIXED_32 = 0, 1, 2, 5
"""How the value of a field is written, in Protocol Buffers."""


def _damaged(shard: Shard, error: Exception) -> SourceError:
    return SourceError(
        f"{shard.name} is not a whole ORC file: {one_line(error)}; make the file again"
    )


class OrcTable:
    """The stripes of a file."""

    def __init__(self, shard: Shard, bounds: Bounds | None) -> None:
        """Read the footer. Without bounds, a stripe may take any memory."""
        self._shard = shard
        self._bounds = bounds
        with streams.opened(shard) as stream:
            file = open_orc(stream)
            try:
                self.schema: pa.Schema = file.schema
                self.rows: int = file.nrows
                check_names(self.schema)
                tail = file.reader.serialized_file_tail()
                self._stripes = _stripe_rows(tail)
                if sum(self._stripes) != self.rows or len(self._stripes) != file.nstripes:
                    raise ValueError("its stripes are not those of its footer")
                self._text_bytes = _text_bytes(tail)
            except ERRORS as error:
                raise _damaged(shard, error) from None

    def groups(self, first: int) -> Iterator[tuple[int, int, int]]:
        """Give each stripe from one on, the rows before it, and its own."""
        start = sum(self._stripes[:first])
        for group in range(first, len(self._stripes)):
            yield group, start, self._stripes[group]
            start += self._stripes[group]

    def stretches(
        self, choice: Choice, group: int, start: int, before: int, at_once: int
    ) -> Iterator[tuple[int, Any]]:
        """Give the columns of each stretch of a stripe, and the rows of the file before it."""
        names = sorted({path[0] for path in chosen_paths(choice, self.schema)})
        with streams.opened(self._shard) as stream:
            yield from slices(self.read(stream, group, names), start, before, at_once)
            stream.check()

    def read(self, stream: Stream, group: int, names: Sequence[str] | None = None) -> Any:
        """Read some columns of a stripe, or all."""
        rows = self._stripes[group]
        # A stripe is read as a whole. How long texts are is known of all of them together.
        weight = max(8 * rows, self._text_bytes * rows // max(self.rows, 1))
        if self._bounds is not None and weight > self._bounds.part:
            raise self._bounds.too_much(
                f"stripe {group + 1:,} of {self._shard.name} holds about {size(weight)} of texts, "
                "where it could be written in smaller stripes",
                self._bounds.part,
            )
        try:
            columns = None if names is None else list(names)
            batch = open_orc(stream).read_stripe(group, columns)
        except ERRORS as error:
            raise _damaged(self._shard, error) from None
        if len(batch) != rows:
            raise _damaged(self._shard, ValueError("a stripe has fewer rows than it says"))
        return batch


def open_orc(stream: Stream) -> Any:
    """Open a file for reading."""
    from pyarrow import orc

    try:
        return orc.ORCFile(stream.native_file)
    except ERRORS as error:
        raise _damaged(stream.shard, error) from None


@dataclass(frozen=True)
class _Field:
    """A field of a message in Protocol Buffers."""

    number: int
    value: int
    content: bytes


def _fields(data: bytes) -> Iterator[_Field]:
    at = 0
    while at < len(data):
        key, at = _variable(data, at)
        kind, value, content = key & 7, 0, b""
        if kind == VARIABLE:
            value, at = _variable(data, at)
        elif kind == BYTES:
            length, at = _variable(data, at)
            content, at = data[at : at + length], at + length
        elif kind in (FIXED_64, FIXED_32):
            at += 8 if kind == FIXED_64 else 4
        else:
            raise ValueError("its footer cannot be read")
        yield _Field(key >> 3, value, content)


def _variable(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _within(data: bytes, number: int) -> Iterator[bytes]:
    return (field.content for field in _fields(data) if field.number == number)


def _stripe_rows(tail: bytes) -> list[int]:
    """Give the rows of each stripe."""
    (footer,) = _within(tail, FOOTER)
    return [
        sum(field.value for field in _fields(stripe) if field.number == ROWS_OF_STRIPE)
        for stripe in _within(footer, STRIPES)
    ]


def _text_bytes(tail: bytes) -> int:
    """Give how long all texts of all columns are together, as far as the footer tells."""
    (footer,) = _within(tail, FOOTER)
    total = 0
    for column in _within(footer, STATISTICS):
        for kind, field in ((STRINGS, SUM_OF_LENGTHS), (BINARY, 1)):
            for texts in _within(column, kind):
                sums = (one.value for one in _fields(texts) if one.number == field)
                total += sum(value >> 1 ^ -(value & 1) for value in sums)
    return max(total, 0)
