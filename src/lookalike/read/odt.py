"""ODT: the paragraphs of an OpenDocument text, with those of its tables, notes and text boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.read.document_text import refused_if_broken
from lookalike.read.markup import Lines, Rules, elements, parse
from lookalike.read.zip_parts import Parts, locked

if TYPE_CHECKING:
    from lookalike.read.streams import Bounds

__all__ = ["odt_text"]

CONTENT, MANIFEST = "content.xml", "META-INF/manifest.xml"
RULES = Rules(
    paragraphs={"p", "h"},
    breaks={"s": " ", "tab": "\t", "line-break": "\n"},
    silent={
        "office:annotation",
        "office:binary-data",
        "office:forms",
        "svg:desc",
        "svg:title",
        "text:note-citation",
        "text:tracked-changes",
    },
)


def odt_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give what a reader reads; not comments, nor what was deleted and is still recorded."""
    with refused_if_broken(name, "ODT"):
        parts = Parts(file, name, bounds)
        if MANIFEST in parts and elements(parts.read(MANIFEST), "encryption-data"):
            raise locked(name)
        found = Lines(RULES)
        parse(parts.read(CONTENT), found)
        return "\n".join(found.lines)
