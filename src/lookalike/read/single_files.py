"""Files that are one document: plain text, HTML, PDF and DOCX."""

from __future__ import annotations

import logging
import os
import stat
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import MissingExtraError, SourceError
from lookalike.base.memory import default_memory, size
from lookalike.read.content import HEAD_BYTES
from lookalike.read.encoding_names import Encodings
from lookalike.read.encodings import Decoded, check_no_nul, decode
from lookalike.read.files import Shard, kind_of, one_line, unreadable
from lookalike.read.streams import Bounds, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["document_text", "read_document", "read_text"]


DIRECTORY_END, DIRECTORY_END_SIZE = b"PK\x05\x06", 22 + (1 << 16)
DIRECTORY_LIMIT_BYTES = 4 << 20
"""Bytes of the list of a document's parts, of which each takes ten times as much in memory."""


BLOCK_BYTES = 1 << 16
MAX_CELLS = 1 << 14
"""Columns that a row of a table may have; Word makes 63."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Read one document: HTML, PDF and DOCX by their names, any other file as text."""
    return read_document(path).text


def read_document(
    path: str | os.PathLike[str], *, encoding: str | None = None, strict_encoding: bool = False
) -> Decoded:
    """Read one document, with a note where a user should know how it was read."""
    encodings = Encodings.of(encoding, strict=strict_encoding)
    name = os.fspath(path)
    kind, packed = kind_of(name) or ("text", None)
    try:
        state = Path(name).stat()
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    if stat.S_ISDIR(state.st_mode):
        raise SourceError(f"{name} is a folder: name a file, or compare all of it with find")
    if packed is not None or kind not in (*READERS, *PACKED):
        kind = "text"
    shard = Shard(name, name, kind, state.st_size, state.st_mtime_ns, name)
    return document_text(shard, Bounds(default_memory()), encodings)


def document_text(shard: Shard, bounds: Bounds, encodings: Encodings) -> Decoded:
    """Give the text of a file that is one document, if it fits in memory."""
    with opened(shard) as stream:
        if shard.kind in PACKED:
            text = PACKED[shard.kind](stream.whole(bounds), shard.name, bounds)
            stream.check()
            return Decoded(text)
        if shard.size > bounds.record:
            # One that is no text is not refused for its size.
            check_no_nul(stream.head(HEAD_BYTES), shard.name, encodings)
            raise bounds.too_long(shard.name)
        data = b"".join(stream.rest())
    return READERS[shard.kind](data, shard.name, encodings)


def _html(data: bytes, name: str, encodings: Encodings) -> Decoded:
    source, note = decode(data, name, encodings, markup=True)
    from lookalike.read.html import page_text

    return Decoded(page_text(source.encode()), note)


def _needs(package: str, kind: str) -> Any:
    """Load a library of the extra for documents."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(f"{kind} files", "documents") from None


def _pdf(file: Any, name: str, bounds: Bounds) -> str:
    pypdf = _needs("pypdf", "PDF")
    # What it has to say of a broken file comes with the error, or does not matter.
    logger = logging.getLogger("pypdf")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        reader = pypdf.PdfReader(file)
        locked = reader.is_encrypted and not reader.decrypt("")
        pages = () if locked else (page.extract_text() for page in reader.pages)
        text = _gathered(pages, name, bounds)
    except SourceError:
        raise
    except Exception as error:  # a broken file breaks its reader in any way
        raise _broken(name, "PDF", error) from None
    if locked:
        raise SourceError(f"{name} is a PDF locked with a password: unlock it or leave it out")
    return _sound(text)


def _docx(file: Any, name: str, bounds: Bounds) -> str:
    docx = _needs("docx", "DOCX")
    try:
        _check_parts(file, name, bounds)
        document = docx.Document(file)
        return _sound(_gathered(_blocks(document), name, bounds))
    except SourceError:
        raise
    except Exception as error:  # a broken file breaks its reader in any way
        raise _broken(name, "DOCX", error) from None


def _gathered(parts: Iterable[str], name: str, bounds: Bounds) -> str:
    """Put lines together, as many as fit: pages may share what they show."""
    found, length = [], 0
    for part in parts:
        length += len(part) + 1
        if length > bounds.record:
            raise bounds.too_long(f"the text of {name}")
        found.append(part)
    return "\n".join(found)


def _check_parts(file: Any, name: str, bounds: Bounds) -> None:
    """Refuse a document by what its parts unpack to, before they are: no more is unpacked of one.

    Markup becomes a tree of many times its size, pictures and the like are held.
    """
    tail = min(file.seek(0, os.SEEK_END), DIRECTORY_END_SIZE)
    file.seek(-tail, os.SEEK_END)
    _, end, record = file.read().rpartition(DIRECTORY_END)
    if end and int.from_bytes(record[8:12], "little") > DIRECTORY_LIMIT_BYTES:
        raise bounds.too_much(f"{name} lists too many parts", DIRECTORY_LIMIT_BYTES)
    file.seek(0)
    with zipfile.ZipFile(file) as packed:
        parts = packed.infolist()
    markup = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
    others = sum(part.file_size for part in parts) - markup
    for what, unpacked, limit in (
        ("markup", markup, bounds.record),
        ("pictures and the like", others, bounds.part),
    ):
        if unpacked > limit:
            raise bounds.too_much(f"{name} unpacks to {size(unpacked)} of {what}", limit)
    file.seek(0)
    # What a part says of its size may be false: unpacked by blocks, it ends there and is not sound.
    with zipfile.ZipFile(file) as packed:
        for part in parts:
            with packed.open(part) as stream:
                while stream.read(BLOCK_BYTES):
                    pass
    file.seek(0)


def _blocks(holder: Any) -> Iterator[str]:
    """Give the paragraphs of a document or a cell, those of its tables cell by cell."""
    for block in holder.iter_inner_content():
        if not hasattr(block, "rows"):
            yield block.text
            continue
        before = None
        for row in block.rows:
            width = sum(cell.grid_span for cell in row._tr.tc_lst)
            if width > MAX_CELLS:  # each would be given as often as it is wide
                raise ValueError(f"a row of a table is {width:,} cells wide")
            for cell in row.cells:
                if cell._tc is not before:  # cells that were merged are one
                    yield from _blocks(cell)
                before = cell._tc


def _broken(name: str, kind: str, error: Exception) -> SourceError:
    reason = one_line(error)
    return SourceError(
        f"{name} is a {kind} file that cannot be read ({reason}): mend it or leave it out"
    )


def _sound(text: str) -> str:
    """Replace halves of characters, which fonts without a map of their letters give."""
    return text.encode("utf-8", "replace").decode()


READERS: dict[str, Callable[[bytes, str, Encodings], Decoded]] = {"text": decode, "html": _html}
PACKED: dict[str, Callable[[Any, str, Bounds], str]] = {"pdf": _pdf, "docx": _docx}
"""Of files whose parts are packed, and unpacked one by one."""
