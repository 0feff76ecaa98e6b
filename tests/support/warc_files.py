"""WARC files for the tests of the readers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKINGS = ("", ".gz", ".zst")


def record(kind: str, body: bytes, number: int = 1, **headers: str) -> bytes:
    """Give a record of a kind."""
    told = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{number:08}-0000-4000-8000-000000000000>",
        "WARC-Date": f"2026-01-02T03:04:{number % 60:02}Z",
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
    return f"WARC/1.1\r\n{lines}\r\n".encode() + body + b"\r\n\r\n"


def answer(
    url: str,
    page: bytes,
    number: int = 1,
    *,
    kind: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    more: str = "",
) -> bytes:
    """Give the record of a page that a server sent."""
    typed = f"Content-Type: {kind}\r\n" if kind else ""
    head = f"HTTP/1.1 {status}\r\n{typed}{more}Content-Length: {len(page)}\r\n\r\n"
    return record(
        "response",
        head.encode() + page,
        number,
        WARC_Target_URI=url,
        Content_Type="application/http; msgtype=response",
    )


def warc(records: Sequence[bytes], packing: str = "", *, whole: bool = False) -> bytes:
    """Put records together, packed one by one or as a whole."""
    parts = [b"".join(records)] if whole else records
    if packing == ".gz":
        return b"".join(map(gzip.compress, parts))
    if packing == ".zst":
        return b"".join(pa.Codec("zstd").compress(part, asbytes=True) for part in parts)
    return b"".join(parts)
