"""How the parts of PPTX and XLSX files refer to one another."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from lookalike.read.markup import elements
from lookalike.read.zip_parts import path_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.read.zip_parts import Parts

__all__ = ["Relation", "main_part", "relation_id", "relations"]


class Relation(NamedTuple):
    """A part that another one refers to."""

    kind: str
    """The last word of its type: slide, notesSlide, worksheet, sharedStrings."""
    part: str


def relations(parts: Parts, part: str) -> dict[str, Relation]:
    """Give the parts that one refers to, by the ids that it has for them; "" for the document."""
    folder, name = posixpath.split(part)
    listing = posixpath.join(folder, "_rels", f"{name}.rels")
    if listing not in parts:
        return {}
    found = {}
    for _, one in elements(parts.read(listing), "Relationship"):
        if one.get("TargetMode") != "External":
            kind = one.get("Type", "").rpartition("/")[2]
            found[one.get("Id", "")] = Relation(kind, path_from(part, one.get("Target", "")))
    return found


def main_part(parts: Parts) -> str:
    """Give the part that says which others there are, and in which order."""
    for relation in relations(parts, "").values():
        if relation.kind == "officeDocument":
            return relation.part
    raise ValueError("it does not say which part is the document")


def relation_id(attributes: Mapping[str, str]) -> str:
    """Give the id by which an element refers to a part; it may have another one of its own."""
    return next((value for name, value in attributes.items() if name.endswith(":id")), "")
