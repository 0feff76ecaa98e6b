"""Where the records of a WARC file end: one that breaks off has no end."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.read.streams import opened

if TYPE_CHECKING:
    from lookalike.read.files import Shard
    from lookalike.read.streams import Stream

__all__ = ["GZIP", "MAX_HEADER_BYTES", "ZSTD", "end_of_record"]

GZIP, ZSTD, PLAIN = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"WARC/"
"""How a record begins as it is stored."""
MAX_HEADER_BYTES = 1 << 16
PIECE_BYTES = 1 << 16
LENGTH = re.compile(rb"^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
RECORD_END = b"\r\n\r\n"
REPEATED_BYTE = 1
"""The kind of a block of zstd that stores one byte for many."""


def end_of_record(shard: Shard, place: int) -> int | None:
    """Tell where the record that begins at a place ends; None of one that is not whole.

    It is a stored one, of gzip or zstd with all that was packed with it, or one of unpacked bytes.
    """
    with opened(shard) as stream:
        try:
            stream.skip_to(place)
            head = stream.head(len(PLAIN))
            if head.startswith(GZIP):
                return _end_of_gzip(stream)
            if head.startswith(ZSTD):
                return _end_of_zstd(stream)
            return _end_of_plain(stream) if head.startswith(PLAIN) else max(place, shard.size)
        except SourceError:  # what it is packed in breaks off
            return None


def _end_of_gzip(stream: Stream) -> int | None:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while piece := stream.read(PIECE_BYTES):
        while piece and not unpacker.eof:
            try:
                unpacker.decompress(piece, PIECE_BYTES)
            except zlib.error:
                return None
            piece = unpacker.unconsumed_tail
        if unpacker.eof:
            return stream.place - len(unpacker.unused_data)
    return None


def _end_of_zstd(stream: Stream) -> int | None:
    """Go from block to block: each says how long it is."""
    told = stream.read(len(ZSTD) + 1)[len(ZSTD) :]
    if not told:
        return None
    is_single = bool(told[0] & 0x20)
    content_size = (int(is_single), 2, 4, 8)[told[0] >> 6]
    rest = (not is_single) + (0, 1, 2, 4)[told[0] & 3] + content_size
    is_last = False
    if len(stream.read(rest)) < rest:
        return None
    while not is_last:
        header = stream.read(3)
        if len(header) < 3:
            return None
        block = int.from_bytes(header, "little")
        is_last = bool(block & 1)
        length = 1 if (block >> 1) & 3 == REPEATED_BYTE else block >> 3
        if len(stream.read(length)) < length:
            return None
    checksum = 4 if told[0] & 4 else 0
    return stream.place if len(stream.read(checksum)) == checksum else None


def _end_of_plain(stream: Stream) -> int | None:
    begin = stream.place
    header = stream.read(MAX_HEADER_BYTES)
    blank = BLANK_LINE.search(header)
    length = LENGTH.search(header, 0, blank.end()) if blank else None
    if blank is None or length is None:
        return None
    end = begin + blank.end() + int(length[1])
    with opened(stream.shard) as again:
        again.skip_to(end - 1)
        if end > begin and not again.read(1):
            return None
        # What ends a record may be cut, where its content is whole.
        return end + len(RECORD_END) if again.head(len(RECORD_END)) == RECORD_END else end
