"""EPUB: the chapters of a book in reading order, each a page of HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SourceError
from lookalike.read.document_text import gathered, refused_if_broken
from lookalike.read.markup import elements
from lookalike.read.streams import text_encoding_of
from lookalike.read.zip_parts import Parts, path_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.streams import Bounds

__all__ = ["epub_text"]

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
DECLARED = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)")


def epub_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the text of all chapters, those outside of the main order where they stand."""
    with refused_if_broken(name, "EPUB"):
        parts = Parts(file, name, bounds)
        chapters = list(dict.fromkeys(_chapters(parts)))  # each once, however often it is named
        if not set(chapters).isdisjoint(_encrypted(parts)):
            raise SourceError(
                f"{name} is protected (DRM) and cannot be read: give a copy that is not, or leave "
                "it out"
            )
        return gathered((_page_text(parts.read(chapter)) for chapter in chapters), name, bounds)


def _chapters(parts: Parts) -> Iterator[str]:
    roots = elements(parts.read(CONTAINER), "rootfile")
    if not roots:
        raise ValueError("it does not say which part lists its chapters")
    package = path_from("", roots[0][1].get("full-path", ""))
    listed = elements(parts.read(package), "item", "itemref")
    items = {one.get("id"): one for kind, one in listed if kind == "item"}
    for kind, reference in listed:
        if kind != "itemref":
            continue
        item = items.get(reference.get("idref"))
        if item is None:
            raise ValueError("it lists a chapter that is not there")
        if item.get("media-type", "").lower() in PAGES:
            yield path_from(package, item.get("href", ""))


def _encrypted(parts: Parts) -> Iterator[str]:
    """Give the parts that are encrypted; fonts often are, in books that all may read."""
    if ENCRYPTION in parts:
        for _, one in elements(parts.read(ENCRYPTION), "CipherReference"):
            yield path_from("", one.get("URI", ""))


def _page_text(page: bytes) -> str:
    encoding, mark = text_encoding_of(page[:4])
    declared = DECLARED.match(page)
    if declared and not mark:
        encoding = declared[1].decode("ascii")
    from lookalike.read.html import page_text

    return page_text(page[mark:].decode(encoding).encode())
