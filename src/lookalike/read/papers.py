"""Files that are one document: plain text, HTML, PDF and DOCX."""

from __future__ import annotations

import io
import logging
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.errors import SourceError
from lookalike.read.shards import Shard, kind_of, one_line, unreadable
from lookalike.read.streams import check_length, encoding_of, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["BinaryFileError", "paper_text", "read_text"]


class BinaryFileError(SourceError):
    """A file that is named like a text and is none."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Read one document: HTML, PDF and DOCX by their names, any other file as text."""
    name = os.fspath(path)
    kind, packed = kind_of(name) or ("text", None)
    try:
        state = Path(name).stat()
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    if stat.S_ISDIR(state.st_mode):
        raise SourceError(f"{name} is a folder: name a file, or compare all of it with find")
    if packed is not None or kind not in READERS:
        kind = "text"
    return paper_text(Shard(name, name, kind, state.st_size, state.st_mtime_ns, name))


def paper_text(shard: Shard) -> str:
    """Give the text of a file that is one document."""
    if shard.kind in ("text", "html"):
        check_length(shard)
    with opened(shard) as stream:
        data = b"".join(stream.rest())
    return READERS[shard.kind](data, shard.name)


def _plain(data: bytes, name: str) -> str:
    encoding, mark = encoding_of(data[:4], name)
    if encoding == "utf-8" and b"\0" in data:
        raise BinaryFileError(
            f"{name} is not text: it holds a NUL at byte {data.index(0) + 1}; "
            "convert it to UTF-8 or leave it out"
        )
    try:
        return data[mark:].decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{name} is not {encoding[:6].upper()} text at byte {mark + error.start + 1}: "
            "convert it to UTF-8 or leave it out"
        ) from None


CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9._:-]+)", re.IGNORECASE)


def _html(data: bytes, name: str) -> str:
    try:
        source = _plain(data, name)
    except BinaryFileError:
        raise
    except SourceError as error:
        named = CHARSET.search(data[:4096])
        charset = named[1].decode("ascii").lower() if named else "utf-8"
        if charset in ("utf-8", "utf8"):
            raise
        raise SourceError(f"{error} (it says that it is {charset})") from None
    from lookalike.read.pages import page_text

    return page_text(source.encode())


def _needs(package: str, kind: str) -> Any:
    """Load a library of the extra for documents."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise SourceError(
            f"{kind} files need another library: pip install 'lookalike[documents]'"
        ) from None


def _pdf(data: bytes, name: str) -> str:
    pypdf = _needs("pypdf", "PDF")
    # What it has to say of a broken file comes with the error, or does not matter.
    logger = logging.getLogger("pypdf")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
        pages = [] if locked else [page.extract_text() for page in reader.pages]
    except Exception as error:  # a broken file breaks its reader in any way
        raise _broken(name, "PDF", error) from None
    if locked:
        raise SourceError(f"{name} is a PDF locked with a password: unlock it or leave it out")
    return _sound("\n".join(pages))


def _docx(data: bytes, name: str) -> str:
    docx = _needs("docx", "DOCX")
    try:
        document = docx.Document(io.BytesIO(data))
        return _sound("\n".join(_blocks(document)))
    except Exception as error:  # a broken file breaks its reader in any way
        raise _broken(name, "DOCX", error) from None


def _blocks(holder: Any) -> Iterator[str]:
    """Give the paragraphs of a document or a cell, those of its tables cell by cell."""
    for block in holder.iter_inner_content():
        if not hasattr(block, "rows"):
            yield block.text
            continue
        before = None
        for row in block.rows:
            for cell in row.cells:
                if cell._tc is not before:  # cells that were merged are one
                    yield from _blocks(cell)
                before = cell._tc


def _broken(name: str, kind: str, error: Exception) -> SourceError:
    reason = one_line(error)[:200]
    return SourceError(
        f"{name} is a {kind} file that cannot be read ({reason}): mend it or leave it out"
    )


def _sound(text: str) -> str:
    """Replace halves of characters, which fonts without a map of their letters give."""
    return text.encode("utf-8", "replace").decode()


READERS: dict[str, Callable[[bytes, str], str]] = {
    "text": _plain,
    "html": _html,
    "pdf": _pdf,
    "docx": _docx,
}
