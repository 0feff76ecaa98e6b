"""Pages of the web beyond their plain text: the main text alone, and pages in any encoding."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import BinaryFileError, EncodingError, MissingExtraError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.read.encodings import decode
from lookalike.read.fields import TEXT
from lookalike.read.files import Unread
from lookalike.read.html import page_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from lookalike.read.batches import Documents
    from lookalike.read.encoding_names import Encodings
    from lookalike.read.fields import Piece, ReadOptions
    from lookalike.read.files import Shard

__all__ = [
    "decoded_page",
    "documents_as_pages",
    "main_text",
    "needs",
    "read_as_pages",
    "text_of_page",
]

MAX_DEPTH, MAX_FORMATTING, MAX_ATTRIBUTES = 2000, 200, 2000
"""Elements within each other, those of formatting among them, and attributes of a tag: to build
a tree takes time and memory by the square of these."""
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)([^<>]*)")
FORMATTING = frozenset(
    (
        "a",
        "b",
        "big",
        "code",
        "em",
        "font",
        "i",
        "nobr",
        "s",
        "small",
        "strike",
        "strong",
        "tt",
        "u",
    )
)
CLOSED_BY_THE_NEXT = frozenset(
    (
        *("area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link"),
        *("meta", "option", "p", "param", "source", "td", "th", "tr", "track", "wbr"),
    )
)
"""Elements that do not grow deeper where one follows upon the other."""


def needs(package: str, what: str) -> Any:
    """Load a library of the extra for the web."""
    if (loaded := sys.modules.get(package)) is not None:
        return loaded
    try:
        with warnings.catch_warnings():
            # What a library has to say of its own older names is not for a user.
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(what, "web") from None


def text_of_page(source: str, name: str, *, main: bool) -> str:
    """Give what a reader reads of a page: all of it, or the main text."""
    return main_text(source, name) if main else page_text(source.encode())


def main_text(source: str, name: str) -> str:
    """Give the main text of a page, without menus, headers, footers and the like."""
    extract = needs("resiliparse.extract.html2text", "main texts of pages")
    if problem := _too_deep(source):
        raise SourceError(
            f"{name} is a page {problem}: leave it out, or read all of its text without "
            f"{setting('main_text')}"
        )
    # A NUL would end the page for the parser.
    text: str = extract.extract_plain_text(
        source.replace("\0", ""),
        main_content=True,
        list_bullets=False,
        links=False,
        alt_texts=False,
    )
    return text.strip()


def _too_deep(source: str) -> str:
    """Say why no tree is built of a page; nothing where one is."""
    depth, formatting = 0, 0
    for tag in TAG.finditer(source):
        name = tag[2].lower()
        step = -1 if tag[1] else 1
        if name in FORMATTING:
            formatting = max(formatting + step, 0)
        elif name not in CLOSED_BY_THE_NEXT:
            depth = max(depth + step, 0)
        if depth > MAX_DEPTH or formatting > MAX_FORMATTING:
            return "whose elements stand too deep within each other"
        if len(tag[3]) > MAX_ATTRIBUTES and len(tag[3].split()) > MAX_ATTRIBUTES:
            return "with too many attributes in a tag"
    return ""


def read_as_pages(piece: Piece, shard: Shard, options: ReadOptions) -> Piece:
    """Read records whose texts are pages of HTML as the texts of the pages."""
    if not len(piece.texts):
        return piece
    texts, wrong = _page_texts(
        piece.texts, lambda row: f"{shard.name}:{piece.records[row]}", main=options.main_text
    )
    if not wrong:
        return replace(piece, texts=texts)
    if not options.skip_bad:
        raise SourceError(next(iter(wrong.values())))
    rows = np.setdiff1d(np.arange(len(texts)), list(wrong))
    found = replace(piece, texts=texts).take(rows)
    broken = tuple(Unread(shard.name, line) for line in wrong.values())
    return replace(
        piece,
        ids=found.ids,
        texts=found.texts,
        shards=found.shards,
        records=found.records,
        columns=found.columns,
        broken=(*piece.broken, *broken),
    )


def documents_as_pages(documents: Documents, *, main: bool) -> Documents:
    """Read documents in memory that are pages of HTML as the texts of the pages."""
    texts, wrong = _page_texts(
        documents.texts, lambda row: f"document {quoted(documents.ids[row].as_py())}", main=main
    )
    for line in wrong.values():
        raise SourceError(line)
    return replace(documents, texts=texts)


def _page_texts(
    pages: pa.Array, where: Callable[[int], str], *, main: bool
) -> tuple[pa.Array, dict[int, str]]:
    """Give the texts of pages, and what is wrong with those that have none, by their rows."""
    if pages.type != TEXT:
        if pages.null_count == len(pages):
            return pages, {}
        raise SourceError(
            f"{where(0)} is not text: {setting('markup', 'html')} is for columns of texts; leave "
            "it out"
        )
    texts: list[bytes | None] = []
    wrong: dict[int, str] = {}
    for row, page in enumerate(pages.cast(pa.large_binary())):
        if (data := page.as_buffer()) is None or not data.size:
            texts.append(None if data is None else b"")
            continue
        try:
            texts.append(_page_text(data, where(row) if main else "", main=main).encode())
        except UnicodeDecodeError:  # it is refused where all texts are checked
            texts.append(data.to_pybytes())
        except SourceError as error:
            wrong[row] = error.raw
            texts.append(b"")
    return pa.array(texts, pa.large_binary()).view(TEXT), wrong


def _page_text(data: pa.Buffer, where: str, *, main: bool) -> str:
    return main_text(data.to_pybytes().decode(), where) if main else page_text(data)


def decoded_page(
    data: bytes, charset: str | None, name: str, encodings: Encodings, *, is_html: bool
) -> str:
    """Decode what a server sent, with the charset that it named, if it did.

    No page of a crawl stops the reading of all: what is no text in any encoding is read with
    replacements, unless nothing may be guessed.
    """
    try:
        return decode(data, name, encodings, markup=is_html, charset=charset or "").text
    except (BinaryFileError, EncodingError):
        if encodings.strict:
            raise
    return data.decode("utf-8", "replace")
