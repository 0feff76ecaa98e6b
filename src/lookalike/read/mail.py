"""Messages of e-mail: subject and text, in the encodings that they declare; no attachments."""

from __future__ import annotations

import codecs
import re
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.read.batches import BETWEEN
from lookalike.read.document_text import held, refused_if_broken, sound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message as Headers

    from lookalike.read.streams import Bounds

__all__ = ["message_fields", "message_text"]

HEADER_LIMIT_BYTES = 1 << 20
FIELD_LIMIT = 1 << 16
"""Characters of a header, at the most."""
MAX_PARTS = 10_000
PACKED_FACTOR = 2
"""How much longer than a text may be what it is sent as."""
MAX_DEPTH = 32
"""Parts inside one another; a message has two or three."""
ENVELOPE = re.compile(rb"\A>?From [^\n]*\n")
"""A line of a mailbox, which some programs leave in a message."""
HEADER = re.compile(rb"[!-9;-~]+[ \t]*:")
HEADER_LINE = re.compile(rb"(?:[!-9;-~]+[ \t]*:|[ \t])[^\n]*(?:\n|\Z)")
"""The first of a header, or one that goes on with it."""
LINE_END = re.compile(rb"\r?\n?")
PARSER = BytesHeaderParser()
GUESSED = ("ascii", "us-ascii", "unknown-8bit", "default", "")
META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)


def message_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give subject and text of a file that is one message."""
    data = held(file, name, bounds)
    with refused_if_broken(name, "EML"):
        text = message_fields(data, name, bounds)["text"]
        if len(text) > bounds.record:
            raise bounds.too_long(f"the text of {name}")
        return text


def message_fields(data: bytes, name: str, bounds: Bounds) -> dict[str, str]:
    """Give the fields of a message, as `FIELDS` of `mbox` has them, from its first header on."""
    data = ENVELOPE.sub(b"", data.removeprefix(codecs.BOM_UTF8), 1)
    if not HEADER.match(data):
        raise ValueError("it does not begin with the headers of a message")
    part = _part(memoryview(data))  # parts inside one another share their bytes
    headers = part.headers
    subject = _decoded_header(headers, "subject")
    body = sound(_Texts(name, bounds).of(part)).replace("\r\n", "\n").strip()
    return {
        "text": BETWEEN.join(filter(None, (subject, body))),
        "subject": subject,
        "body": body,
        "from": _decoded_header(headers, "from"),
        "to": _decoded_header(headers, "to"),
        "date": _date(headers),
        "message-id": _decoded_header(headers, "message-id"),
    }


class _Part(NamedTuple):
    headers: Headers
    body: memoryview


def _part(data: memoryview) -> _Part:
    """Part headers from the body, which may begin without a blank line before it."""
    end = 0
    while line := HEADER_LINE.match(data, end):
        end = line.end()
        if end > HEADER_LIMIT_BYTES:
            raise ValueError(f"its headers are longer than {HEADER_LIMIT_BYTES >> 20} MB")
    return _Part(PARSER.parsebytes(bytes(data[:end])), _after_line_end(data[end:]))


def _after_line_end(data: memoryview) -> memoryview:
    found = LINE_END.match(data)
    return data[found.end() :] if found else data


class _Texts:
    """The texts of a message, of so many parts at the most."""

    def __init__(self, name: str, bounds: Bounds) -> None:
        self._name, self._bounds = name, bounds
        self._left = MAX_PARTS

    def of(self, part: _Part, depth: int = 0) -> str:
        """Give the text of a part: of alternatives the plain one, else that of HTML."""
        headers = part.headers
        if headers.get_content_disposition() == "attachment":
            return ""
        kind = headers.get_content_type()
        inner = [_part(one) for one in self._parts(part)]
        if inner:
            if depth == MAX_DEPTH:
                raise ValueError(f"its parts are nested deeper than {MAX_DEPTH} levels")
            if kind == "multipart/alternative":
                inner.sort(key=lambda one: one.headers.get_content_type() != "text/plain")
                return next(
                    (text for one in inner if (text := self.of(one, depth + 1)).strip()), ""
                )
            return BETWEEN.join(filter(str.strip, (self.of(one, depth + 1) for one in inner)))
        # One that says that it has parts, and has none, is read as text.
        if not kind.startswith("multipart/") and kind not in ("text/plain", "text/html"):
            return ""
        if len(part.body) > PACKED_FACTOR * self._bounds.record:
            raise self._bounds.too_long(f"the text of {self._name}")
        return _html_text(part) if kind == "text/html" else _decoded(part)

    def _parts(self, part: _Part) -> Iterator[memoryview]:
        boundary = part.headers.get_boundary()
        if not boundary or part.headers.get_content_maintype() != "multipart":
            return
        mark = re.escape(boundary.encode("utf-8", "surrogateescape"))
        between = re.compile(rb"(?:\A|\r?\n)--" + mark + rb"(--)?[ \t]*(?=\r?\n|\Z)")
        begin = None
        for found in between.finditer(part.body):
            if begin is not None:
                yield self._counted(part.body[begin : found.start()])
            begin = found.end()
            if found[1]:
                return
        if begin is not None:
            yield self._counted(part.body[begin:])

    def _counted(self, data: memoryview) -> memoryview:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"it has more than {MAX_PARTS:,} parts")
        return _after_line_end(data)


def _unpacked(part: _Part) -> bytes:
    """Undo what a part was packed with to be sent."""
    part.headers.set_payload(bytes(part.body).decode("ascii", "surrogateescape"))
    payload: Any = part.headers.get_payload(decode=True)
    data: bytes = payload
    return data


def _decoded(part: _Part) -> str:
    return _in_charset(_unpacked(part), str(part.headers.get_content_charset("")))


def _html_text(part: _Part) -> str:
    from lookalike.read.html import page_text

    data = _unpacked(part)
    charset = str(part.headers.get_content_charset(""))
    if not charset and (declared := META_CHARSET.search(data[:4096])):
        charset = declared[1].decode("ascii")
    return page_text(sound(_in_charset(data, charset)).encode())


def _in_charset(data: bytes, charset: str) -> str:
    """Decode as declared; as UTF-8 or, as most else is, by Windows where nothing is known."""
    try:
        if charset.lower() not in GUESSED:
            return data.decode(charset, "replace")
    except (LookupError, ValueError):
        pass
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _decoded_header(headers: Headers, name: str) -> str:
    value = _raw_header(headers, name)
    try:
        pieces = decode_header(value) if "=?" in value else [(value, None)]
    except (HeaderParseError, ValueError):
        pieces = [(value, None)]
    return " ".join(sound("".join(map(_decoded_piece, pieces))).split())


def _raw_header(headers: Headers, name: str) -> str:
    """Give a header as it stands; its bytes beyond ASCII decoded as they may be meant."""
    for key, value in headers.raw_items():
        if key.lower() == name:
            text = str(value)[:FIELD_LIMIT]
            return _in_charset(text.encode("utf-8", "surrogateescape"), "")
    return ""


def _decoded_piece(piece: tuple[str | bytes, str | None]) -> str:
    data, charset = piece
    if isinstance(data, str):
        return data
    # What is not encoded comes so from Python's reader.
    return data.decode("raw-unicode-escape") if charset is None else _in_charset(data, charset)


def _date(headers: Headers) -> str:
    """Give the date in a form that sorts, in UTC; nothing where there is none."""
    try:
        when = parsedate_to_datetime(_raw_header(headers, "date"))
    except (TypeError, ValueError, IndexError, OverflowError):
        return ""
    zoned = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    try:
        return zoned.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError):
        return ""
