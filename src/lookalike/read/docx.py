"""DOCX: the paragraphs of a document, and those of its tables cell by cell."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from lookalike.base.memory import size
from lookalike.read.document_text import gathered, library, refused_if_broken, sound
from lookalike.read.zip_parts import check_directory, check_not_ole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.read.streams import Bounds

__all__ = ["docx_text"]

BLOCK_BYTES = 1 << 16
MAX_CELLS = 1 << 14
"""Columns that a row of a table may have; Word makes 63."""


def docx_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the paragraphs and the cells of tables in order."""
    docx = library("docx", "DOCX")
    with refused_if_broken(name, "DOCX"):
        check_not_ole(file, name)
        _check_parts(file, name, bounds)
        document = docx.Document(file)
        return sound(gathered(_blocks(document), name, bounds))


def _check_parts(file: Any, name: str, bounds: Bounds) -> None:
    """Refuse a document by what its parts unpack to, before they are: no more is unpacked of one.

    Markup becomes a tree of many times its size, pictures and the like are held.
    """
    check_directory(file, name, bounds)
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
