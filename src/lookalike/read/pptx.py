"""PPTX: the slides of a presentation in order, each with its tables, diagrams and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.read.document_text import gathered, refused_if_broken
from lookalike.read.markup import Lines, Rules, elements, parse
from lookalike.read.office_parts import main_part, relation_id, relations
from lookalike.read.zip_parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.streams import Bounds

__all__ = ["pptx_text"]

RULES = Rules(
    paragraphs={"p"},
    breaks={"br": "\n"},
    silent={"mc:Fallback"},
    runs={"t"},
    silent_fields=("slidenum", "datetime"),
)
WITH_SLIDE = ("diagramData", "notesSlide")
"""Parts of a slide that hold text of their own, in this order."""


def pptx_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the lines of all slides, without numbers and dates that a program fills in."""
    with refused_if_broken(name, "PPTX"):
        return gathered(_lines(Parts(file, name, bounds)), name, bounds)


def _lines(parts: Parts) -> Iterator[str]:
    for part in dict.fromkeys(_parts_in_order(parts)):  # each once, however often it is named
        found = Lines(RULES)
        parse(parts.read(part), found)
        yield from filter(None, found.lines)


def _parts_in_order(parts: Parts) -> Iterator[str]:
    main = main_part(parts)
    known = relations(parts, main)
    for _, slide in elements(parts.read(main), "sldId"):
        relation = known.get(relation_id(slide))
        if relation is None:
            raise ValueError("it lists a slide that is not there")
        yield relation.part
        of_slide = relations(parts, relation.part).values()
        for kind in WITH_SLIDE:
            yield from (one.part for one in of_slide if one.kind == kind)
