"""The pages of a Parquet column: how large each is once unpacked, told before it is.

Arrow unpacks a page whole, and tells only the size of all pages of a row group together. A page
begins with a header in Thrift's compact protocol, whose second and third fields are its two sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["unpacked_sizes"]

MIN_HEADER_BYTES, MAX_HEADER_BYTES = 1 << 12, 1 << 24
"""Bytes read of a header: it may hold the least and the greatest value."""
UNPACKED, PACKED = 2, 3
"""Fields of a header."""
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def unpacked_sizes(file: Any, chunk: Any) -> Iterator[int]:
    """Give the bytes of each page of a column in a row group, as far as its headers can be read."""
    starts = (chunk.dictionary_page_offset, chunk.data_page_offset)
    at = min(start for start in starts if start)
    end = at + chunk.total_compressed_size
    while at < end:
        header = _header(file, at, end)
        if header is None:
            return  # Arrow will say what is wrong
        unpacked, packed, length = header
        yield unpacked
        at += length + packed


def _header(file: Any, at: int, end: int) -> tuple[int, int, int] | None:
    """Give the two sizes of a page, and how long its header is."""
    header_bytes = MIN_HEADER_BYTES
    while header_bytes <= MAX_HEADER_BYTES:
        try:
            fields, length = _struct(file.read_at(min(header_bytes, end - at), at), 0, depth=0)
        except IndexError:  # it is longer
            header_bytes *= 16
            continue
        sizes = fields.get(UNPACKED, -1), fields.get(PACKED, -1)
        return (*sizes, length) if min(sizes) >= 0 else None
    return None


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _struct(data: bytes, at: int, *, depth: int) -> tuple[dict[int, int], int]:
    """Give the whole numbers among the fields, and where the struct ends."""
    fields: dict[int, int] = {}
    field = 0
    while kind := data[at]:
        at += 1
        if kind >> 4:
            field += kind >> 4
        else:
            field, at = _number(data, at)
            field = (field >> 1) ^ -(field & 1)
        before = at
        at = _after(data, at, kind & 15, depth)
        if BYTE < kind & 15 < DOUBLE:
            value, _ = _number(data, before)
            fields[field] = (value >> 1) ^ -(value & 1)
    return fields, at + 1


def _after(data: bytes, at: int, kind: int, depth: int) -> int:
    """Give the place after a value that is not looked at."""
    if kind in (TRUE, FALSE):
        return at
    if kind in (BYTE, DOUBLE):
        return at + (1 if kind == BYTE else 8)
    if kind == BINARY:
        length, at = _number(data, at)
        return at + length
    if kind == STRUCT and depth < 8:
        return _struct(data, at, depth=depth + 1)[1]
    if kind in (LIST, SET, MAP, STRUCT):
        raise IndexError  # no header of a page has one, nor so deep a nest
    return _number(data, at)[1]
