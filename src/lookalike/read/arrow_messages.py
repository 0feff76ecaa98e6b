"""The messages of Arrow's files and streams: where batches of rows stand, and how large they are.

Arrow loads a batch as a whole, and tells its size only then. A message begins with its metadata, a
FlatBuffers table, and what it says of lengths is told here before anything is loaded.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DICTIONARY",
    "MARK",
    "ROWS",
    "Message",
    "buffers_of",
    "file_messages",
    "stream_messages",
    "unpacked_sizes",
]

MARK = b"ARROW1"
GOES_ON = 0xFFFFFFFF
"""Stands before the length of a message, but in the oldest files."""
MAX_METADATA_BYTES = 256 << 20
SCHEMA, DICTIONARY, ROWS = 1, 2, 3
CODECS = ("lz4", "zstd")


@dataclass(frozen=True, slots=True)
class Message:
    """A part of a file: the schema, a dictionary, or a batch of rows."""

    kind: int
    offset: int
    length: int
    """With its metadata and its body."""
    body: int
    """Where its buffers begin."""
    rows: int
    codec: str | None


class Table:
    """A table of FlatBuffers."""

    __slots__ = ("_at", "_data", "_fields")

    def __init__(self, data: bytes, at: int) -> None:
        """Take the bytes, and where in them the table stands."""
        self._data, self._at = data, at
        self._fields = at - self._number("<i", at)

    @classmethod
    def root(cls, data: bytes) -> Table:
        """Give the table that a message begins with."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def _number(self, kind: str, at: int) -> int:
        if at < 0:  # which Python would count from the end
            raise ValueError("a place before the metadata")
        number: int = struct.unpack_from(kind, self._data, at)[0]
        return number

    def _place(self, field: int) -> int:
        """Give where a field stands; 0 where it is left out."""
        entry = 4 + 2 * field
        if entry >= self._number("<H", self._fields):
            return 0
        offset = self._number("<H", self._fields + entry)
        return self._at + offset if offset else 0

    def number(self, field: int, kind: str = "<q") -> int:
        """Give a whole number."""
        place = self._place(field)
        return self._number(kind, place) if place else 0

    def table(self, field: int) -> Table | None:
        """Give a table within this one."""
        place = self._place(field)
        return Table(self._data, place + self._number("<I", place)) if place else None

    def structs(self, field: int, kind: str) -> Iterator[tuple[int, ...]]:
        """Give the structures of a vector."""
        place = self._place(field)
        if not place:
            return
        start = place + self._number("<I", place)
        size, many = struct.calcsize(kind), self._number("<I", start)
        if start + 4 + many * size > len(self._data):
            raise ValueError("a list goes on after the end of the metadata")
        for at in range(start + 4, start + 4 + many * size, size):
            yield struct.unpack_from(kind, self._data, at)


def stream_messages(file: Any, size: int) -> Iterator[Message]:
    """Give the messages of a stream in order."""
    place = 0
    while place < size:
        message = _message(file, place, size)
        if message is None:
            return
        yield message
        place += message.length


def file_messages(file: Any, size: int) -> Iterator[Message]:
    """Give the dictionaries and batches of a file, which its last bytes list."""
    end = size - len(MARK) - 4
    (length,) = struct.unpack("<i", file.read_at(4, end))
    if not 0 < length <= min(end, MAX_METADATA_BYTES):
        raise ValueError("the list of its batches is not whole")
    footer = Table.root(file.read_at(length, end - length))
    for field in (2, 3):
        for offset, _, _ in footer.structs(field, "<qi4xq"):
            message = _message(file, offset, size)
            if message is None:
                raise ValueError("a batch is not where it should be")
            yield message


def _message(file: Any, offset: int, size: int) -> Message | None:
    """Read the metadata of a message; None where a stream ends."""
    if not 0 <= offset <= size - 4:
        raise ValueError("it breaks off")
    prefix = file.read_at(8, offset)
    (length,) = struct.unpack_from("<I", prefix)
    start = offset + 4
    if length == GOES_ON:
        (length,) = struct.unpack_from("<I", prefix, 4)
        start = offset + 8
    if length == 0:
        return None
    if length > min(size - start, MAX_METADATA_BYTES):
        raise ValueError("it breaks off")
    message = Table.root(file.read_at(length, start))
    body = message.number(3)
    if not 0 <= body <= size - start - length:
        raise ValueError("it breaks off")
    kind, batch = message.number(1, "<B"), _batch(message)
    rows, packed = (batch.number(0), batch.table(3)) if batch is not None else (0, None)
    codec = None if packed is None else CODECS[packed.number(0, "<b")]
    if rows < 0:
        raise ValueError("a batch has fewer than no rows")
    whole = start - offset + length + body
    return Message(kind, offset, whole, start + length, rows, codec)


def _batch(message: Table) -> Table | None:
    """Give what a message says of its rows, or of its dictionary."""
    kind = message.number(1, "<B")
    header = message.table(2)
    if kind == DICTIONARY and header is not None:
        return header.table(1)
    return header if kind == ROWS else None


def unpacked_sizes(file: Any, message: Message) -> list[int]:
    """Give the bytes of each buffer of a batch once it is unpacked."""
    start = message.body - message.offset
    metadata = file.read_at(start, message.offset)
    (first,) = struct.unpack_from("<I", metadata)
    batch = _batch(Table.root(metadata[8 if first == GOES_ON else 4 :]))
    if batch is None:
        return []
    sizes = []
    for offset, length in batch.structs(2, "<qq"):
        if message.codec is not None and length >= 8:
            # A packed buffer begins with its size; -1 for one that is as it is.
            (unpacked,) = struct.unpack("<q", file.read_at(8, message.body + offset))
            sizes.append(length if unpacked == -1 else unpacked)
        else:
            sizes.append(length)
    return sizes


def buffers_of(kind: pa.DataType) -> int | None:
    """Count the buffers of a column; None where each batch may have others."""
    if isinstance(kind, pa.BaseExtensionType):
        return buffers_of(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return 2
    if kind in (pa.string_view(), pa.binary_view()):
        return None
    own = 2
    if pa.types.is_null(kind) or pa.types.is_run_end_encoded(kind):
        own = 0
    elif pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        own = 1
    elif pa.types.is_union(kind):
        own = 2 if kind.mode == "dense" else 1
    elif pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind) or _is_text(kind):
        own = 3
    inner = [buffers_of(kind.field(place).type) for place in range(kind.num_fields)]
    return None if None in inner else own + sum(one for one in inner if one is not None)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
