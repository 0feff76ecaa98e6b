"""Files that are one document: plain text and HTML here, others by a reader for each kind."""

from __future__ import annotations

import importlib
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SourceError
from lookalike.base.memory import default_memory
from lookalike.read.content import HEAD_BYTES
from lookalike.read.encoding_names import Encodings
from lookalike.read.encodings import Decoded, check_no_nul, decode
from lookalike.read.files import TABLES, Shard, kind_of, unreadable
from lookalike.read.other_formats import is_compressed, is_rtf, other_format
from lookalike.read.patterns import is_pattern
from lookalike.read.streams import Bounds, opened

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["document_text", "read_document", "read_text"]


def read_text(path: str | os.PathLike[str], *, main_text: bool = False) -> str:
    """Read one document by the kind that its name tells, any other file as text."""
    return read_document(path, main_text=main_text).text


def read_document(
    path: str | os.PathLike[str],
    *,
    encoding: str | None = None,
    strict_encoding: bool = False,
    main_text: bool = False,
) -> Decoded:
    """Read one document, with a note where a user should know how it was read.

    It may be a file in an archive, which the path leads through. Of HTML it may be the main text.
    """
    encodings, bounds = Encodings.of(encoding, strict=strict_encoding), Bounds(default_memory())
    name = os.fspath(path)
    kind, packed = kind_of(name) or ("text", None)
    shard = _stored(name, encodings, bounds)
    if kind in ("zip", "tar"):
        raise SourceError(f"{name} is an archive of files: compare them with find")
    if kind == "warc" or kind in TABLES.values():
        raise SourceError(f"{name} is a table of many documents: compare them with find")
    if packed is not None or kind not in (*READERS, *PACKED):
        kind = "text"
    plain = replace(shard, kind=kind, packed=None)
    if kind_of(name) is None:
        with opened(plain) as stream:
            head = stream.head(HEAD_BYTES)
        if is_compressed(head):
            raise SourceError(f"{name} is compressed: unpack it first")
        if (other := other_format(name, head)) is not None:
            raise SourceError(f"{name} is in {other.name}: save it as {other.instead}")
        if is_rtf(name, head):
            plain = replace(plain, kind="rtf")
    return document_text(plain, bounds, encodings, main_text=main_text)


def _stored(name: str, encodings: Encodings, bounds: Bounds) -> Shard:
    """Find a file by its name: itself, or in an archive."""
    try:
        state = Path(name).stat()
    except (OSError, ValueError) as error:
        from lookalike.read.archive_members import archive_above, file_above, member

        archive, above = archive_above(name), file_above(name)
        if archive is not None:
            return member(name, archive, encodings, bounds)
        if above is not None:
            raise SourceError(
                f"{name} cannot be read: {above} is a file, not a folder or an archive; check the "
                "name"
            ) from None
        if is_pattern(name) and isinstance(error, FileNotFoundError):
            raise SourceError(
                f"{name} is a pattern: name a file, or compare all that it matches with find"
            ) from None
        raise unreadable(name, error) from None
    if stat.S_ISDIR(state.st_mode):
        raise SourceError(f"{name} is a folder: name a file, or compare all of it with find")
    return Shard(name, name, "text", state.st_size, state.st_mtime_ns, name)


def document_text(
    shard: Shard, bounds: Bounds, encodings: Encodings, *, main_text: bool = False
) -> Decoded:
    """Give the text of a file that is one document, if it fits in memory; of HTML the main text."""
    with opened(shard) as stream:
        if shard.kind in PACKED and shard.size == 0:
            return Decoded("")
        if shard.kind in PACKED:
            text = _packed_text(shard.kind, stream.whole(bounds), shard.name, bounds)
            stream.check()
            return Decoded(text)
        if shard.size > bounds.record:
            # One that is no text is not refused for its size.
            check_no_nul(stream.head(HEAD_BYTES), shard.name, encodings)
            raise bounds.too_long(shard.name)
        data = b"".join(stream.rest())
    if main_text and shard.kind == "html":
        from lookalike.read.pages import main_text as main_text_of

        source, note = decode(data, shard.name, encodings, markup=True)
        return Decoded(main_text_of(source, shard.name), note)
    return READERS[shard.kind](data, shard.name, encodings)


def _html(data: bytes, name: str, encodings: Encodings) -> Decoded:
    source, note = decode(data, name, encodings, markup=True)
    from lookalike.read.html import page_text

    return Decoded(page_text(source.encode()), note)


READERS: dict[str, Callable[[bytes, str, Encodings], Decoded]] = {"text": decode, "html": _html}
PACKED = {
    "pdf": "pdf.pdf_text",
    "docx": "docx.docx_text",
    "odt": "odt.odt_text",
    "rtf": "rtf.rtf_text",
    "epub": "epub.epub_text",
    "pptx": "pptx.pptx_text",
    "ipynb": "ipynb.notebook_text",
    "eml": "mail.message_text",
}
"""The readers of files that hold more than text, and are bounded each in its own way."""


def _packed_text(kind: str, file: Any, name: str, bounds: Bounds) -> str:
    """Load the reader of a kind, and read."""
    module, _, function = PACKED[kind].partition(".")
    read = getattr(importlib.import_module(f"lookalike.read.{module}"), function)
    text: str = read(file, name, bounds)
    return text
