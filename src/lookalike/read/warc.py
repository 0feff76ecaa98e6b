"""WARC and WET files: the pages that crawlers stored, a document for each capture."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.base.wording import RECORDS_OF_WARC, quoted, shortened
from lookalike.read.batches import NO_ID, listed
from lookalike.read.fields import TEXT, Piece, no_vectors
from lookalike.read.files import Unread, one_line
from lookalike.read.pages import decoded_page, needs, text_of_page
from lookalike.read.streams import ANY_MEMORY, opened
from lookalike.read.warc_ends import GZIP, MAX_HEADER_BYTES, ZSTD, end_of_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.fields import ReadOptions
    from lookalike.read.files import Shard
    from lookalike.read.streams import Bounds, Stream

__all__ = ["Captures", "blocks", "check_names", "kept_stretches", "parse", "record_by_record"]

COLUMNS = ("url", "date", "record_id")
PAGES = ("text/html", "application/xhtml+xml")
TEXTS = ("text/plain", "text/markdown")
DOCUMENTS = ("response", "resource", "conversion")
STARTS = (b"WARC/", GZIP, ZSTD)
"""How a record begins as it is stored: as it is, by gzip or by zstd."""
OK = range(200, 300)
RECORD_BYTES = 1 << 10
"""Bytes that a record weighs beyond its content: its headers."""


class Capture(NamedTuple):
    """A record that is a document, in memory."""

    number: int
    """Of the record in its file, from 1."""
    url: str | None
    date: str | None
    record_id: str | None
    is_html: bool
    charset: str | None
    body: Any
    """Reads what is left to unpack of it."""
    size: int


@dataclass
class Captures:
    """Some records of a file, side by side."""

    found: list[Capture] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    """Records that are no documents, by what they are."""
    broken: list[Unread] = field(default_factory=list)
    weight: int = 0
    next: tuple[int, int] = (0, 0)
    """Where the record after these begins, and how many lie before it."""
    consumed: int = 0


def _library() -> Any:
    return needs("fastwarc.warc", "WARC files")


def check_names(shard: Shard, options: ReadOptions) -> None:
    """Refuse what no capture has."""
    if options.vector is not None:
        raise no_vectors(shard.name)
    if options.id not in (None, NO_ID, *COLUMNS):
        raise SourceError(
            f"{shard.name}: there is no column {quoted(options.id)} for the id: there are "
            f"{listed(COLUMNS)}"
        )


def _damaged(shard: Shard, number: int, reason: object) -> SourceError:
    return SourceError(
        f"{shard.name} is not whole: its WARC data breaks off or is damaged at record "
        f"{number:,} ({one_line(reason)}), and is read no further; make the file again"
    )


class _Unpacked:
    """The unpacked bytes of a file, as the library reads a file."""

    def __init__(self, stream: Stream) -> None:
        self.read = stream.read
        self._stream = stream

    def tell(self) -> int:
        return self._stream.place


def _records(stream: Stream, start: int, before: int) -> Iterator[tuple[int, Any]]:
    """Give the records from a place on, numbered."""
    number, place = before, start
    file = stream.stored(start) if stream.shard.packed is None else _Unpacked(stream)
    iterator = _library().ArchiveIterator(file, parse_http=False, max_header_len=MAX_HEADER_BYTES)
    try:
        for number, record in enumerate(iterator, before + 1):
            if record.headers.get("Content-Length") is None:
                raise _damaged(stream.shard, number, "its header has no length")
            place = int(record.stream_pos)
            yield number, record
    except OSError as error:
        raise _damaged(stream.shard, number + 1, error) from None
    # What goes forward alone would begin again; an archive has a checksum of its own.
    goes_back = stream.shard.packed is None and not stream.shard.is_streamed
    if goes_back and not _ends(stream.shard, place):
        raise _damaged(stream.shard, max(number, 1), "it breaks off there or after")
    stream.check()


def _ends(shard: Shard, place: int) -> bool:
    """Tell whether the last record is whole, and nothing is after it: the library does not."""
    end = end_of_record(shard, place)
    if end is None or end >= shard.size:
        return end is not None
    with opened(shard) as stream:
        return not bytes(stream.stored(place).read(len(GZIP))).startswith(GZIP)


def record_by_record(shard: Shard) -> Shard:
    """Give a file whose records are stored one by one, as most are, as it is; else unpacked."""
    with opened(shard) as stream:
        start = bytes(stream.stored(0).read(len(ZSTD)))
        is_packed = start.startswith((GZIP, ZSTD))
        if not is_packed or _is_seekable(stream):
            return shard
    return replace(shard, packed="zstd" if start == ZSTD else "gzip")


def _is_seekable(stream: Stream) -> bool:
    """Tell a file that is read from any of its records."""
    try:
        for number, record in _records(stream, 0, 0):
            if number > 1:
                place = int(record.stream_pos)
                return bytes(stream.stored(place).read(len(STARTS[0]))).startswith(STARTS)
    except SourceError:
        # Its reader says so; where all is packed as one, what is before the break can be unpacked.
        return end_of_record(stream.shard, 0) is not None
    return True


def _hold(stream: Stream, record: Any, number: int, bounds: Bounds) -> None:
    """Take the content of a record into memory, where it may be a document that fits."""
    if str(record.record_type) not in DOCUMENTS or record.content_length > bounds.record:
        return
    data = record.reader.read()
    if len(data) < record.content_length:
        raise _damaged(stream.shard, number, "it breaks off")
    record.set_bytes_content(data)


def _capture(
    stream: Stream, record: Any, number: int, bounds: Bounds
) -> tuple[Capture | None, str]:
    """Give a record that was taken into memory if it is a document, or say what it is."""
    kind = str(record.record_type)
    if kind not in DOCUMENTS:
        return None, kind
    is_long = record.content_length > bounds.record
    if record.is_http:
        record.parse_http(auto_decode="none" if is_long else "all")
    headers = record.headers
    if record.is_http:
        status = record.http_headers.status_code
        if status is not None and status not in OK:
            return None, f"status {status}"
        told, charset = record.http_content_type, record.http_charset
    else:
        told, _, parameters = (headers.get("Content-Type") or "").partition(";")
        charset = parameters.partition("charset")[2].strip(' ="') or None
    told = (told or headers.get("WARC-Identified-Payload-Type") or "").strip().lower()
    if told not in (*PAGES, *TEXTS):
        return None, shortened(told or "no content type", 80)
    if is_long:
        raise bounds.too_long(f"{stream.shard.name}:{number}")
    url = (headers.get("WARC-Target-URI") or "").strip("<>") or None
    record_id = (headers.get("WARC-Record-ID") or "").strip("<>") or None
    capture = Capture(
        number,
        url,
        headers.get("WARC-Date"),
        record_id,
        told in PAGES,
        # The text of a conversion record is UTF-8.
        "utf-8" if kind == "conversion" and charset is None else charset,
        record.reader,
        int(record.content_length),
    )
    return capture, ""


def blocks(
    stream: Stream,
    start: int,
    before: int,
    size: int,
    *,
    wanted: set[int] | None,
    options: ReadOptions,
) -> Iterator[Captures]:
    """Cut a file, from a place with so many records before it, into captures of about a size.

    `wanted` numbers the only records that are asked for; None for all.
    """
    block = Captures()
    first = before + 1
    seekable = stream.shard.packed is None
    if not seekable:
        start, before = 0, 0
    number = before
    place = start
    problem: SourceError | None = None
    try:
        for number, record in _records(stream, start, before):
            if number < first:
                continue
            if 2 * block.weight >= size:
                block.next = int(record.stream_pos) if seekable else 0, number - 1
                block.consumed = stream.consumed
                yield block
                block = Captures()
            place = int(record.stream_pos)
            block.weight += int(record.content_length) + RECORD_BYTES
            if wanted is None or number in wanted:
                _take(stream, record, number, block, options)
    except SourceError as error:
        if not options.skip_bad:
            raise
        problem = error
        last = block.found[-1] if block.found else None
        if seekable and last and last.number == number and not end_of_record(stream.shard, place):
            block.found.pop()  # not whole, it could not be copied
    block.next = stream.shard.size if seekable else 0, number
    block.consumed = stream.shard.size
    yield block
    if problem is not None:  # what is before it was given
        raise problem


def _take(stream: Stream, record: Any, number: int, block: Captures, options: ReadOptions) -> None:
    """Put a record among those of its kind."""
    _hold(stream, record, number, options.bounds)
    try:
        capture, other = _capture(stream, record, number, options.bounds)
    except SourceError as error:
        if not options.skip_bad:
            raise
        block.broken.append(Unread(stream.shard.name, error.raw))
        return
    if capture is None:
        block.others[other] += 1
    else:
        block.found.append(capture)


def parse(shard: Shard, number: int, block: Captures, options: ReadOptions) -> Piece:
    """Make documents of captures."""
    texts: list[str] = []
    found: list[Capture] = []
    broken = [*block.broken]
    for capture in block.found:
        where = f"{shard.name}:{capture.number}"
        try:
            texts.append(_text(capture, where, options))
        except SourceError as error:
            if not options.skip_bad:
                raise
            broken.append(Unread(shard.name, error.raw))
        else:
            found.append(capture)
    named = COLUMNS if options.columns is None else options.columns
    return Piece(
        pa.array([_id(one, shard, options.id) for one in found], pa.string()),
        pa.array(texts, TEXT),
        np.full(len(found), number, np.int32),
        np.array([one.number for one in found], np.int64),
        {
            name: pa.array([getattr(one, name) for one in found], pa.string())
            for name in named
            if name in COLUMNS
        },
        unread=tuple(
            Unread(shard.name, f"{RECORDS_OF_WARC}{what}", many)
            for what, many in sorted(block.others.items())
        ),
        broken=tuple(broken),
        weight=block.weight,
    )


def _text(capture: Capture, where: str, options: ReadOptions) -> str:
    limit = options.bounds.record
    try:
        data = capture.body.read(limit + 1)
    except OSError as error:
        raise SourceError(
            f"{where} cannot be unpacked ({one_line(error)}): fix or remove the record"
        ) from None
    if len(data) > limit:
        raise options.bounds.too_long(where)
    is_html = capture.is_html
    text = decoded_page(data, capture.charset, where, options.encodings, is_html=is_html)
    if not is_html:
        return text
    return text_of_page(text, where, main=options.main_text)


def _id(capture: Capture, shard: Shard, asked: str | None) -> str:
    """Name a capture: a page is known by its address and the time at which it was stored."""
    place = f"{shard.label}:{capture.number}"
    if asked == NO_ID:
        return place
    if asked is not None:
        return getattr(capture, asked) or place
    if capture.url and capture.date:
        digits = "".join(filter(str.isdigit, capture.date))
        return f"{digits}/{capture.url}"
    return capture.record_id or place


def kept_stretches(shard: Shard, kept: set[int]) -> tuple[Shard, Iterator[tuple[int, int]]]:
    """Give where the bytes of a file are without the documents that are not kept.

    Other records stay. Where the file is not stored record by record, they are unpacked bytes, of
    the shard that is given too.
    """
    shard = record_by_record(shard)
    return shard, _stretches(shard, kept)


def _stretches(shard: Shard, kept: set[int]) -> Iterator[tuple[int, int]]:
    begin: int | None = None
    number = place = 0
    end = sys.maxsize
    with opened(shard) as stream:
        try:
            for number, record in _records(stream, 0, 0):
                place = int(record.stream_pos)
                _hold(stream, record, number, ANY_MEMORY)
                stays = number in kept or not _is_document(stream, record, number)
                if stays and begin is None:
                    begin = place
                elif not stays and begin is not None:
                    yield begin, place
                    begin = None
        except SourceError:
            # What is damaged was skipped by the reader, too, with all that is after it.
            end = end_of_record(shard, place) or place
            if max(kept, default=0) > max(number if end > place else number - 1, 0):
                raise
    if begin is not None and begin < end:
        yield begin, end


def _is_document(stream: Stream, record: Any, number: int) -> bool:
    """Tell a record that was read, or skipped because it could not be."""
    try:
        return _capture(stream, record, number, ANY_MEMORY)[0] is not None
    except SourceError:
        return True
