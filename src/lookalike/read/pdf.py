"""PDF: the text of its pages, where it has any."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import NoTextError, SourceError
from lookalike.read.document_text import gathered, library, refused_if_broken, sound

if TYPE_CHECKING:
    from lookalike.read.streams import Bounds

__all__ = ["pdf_text"]


def pdf_text(file: Any, name: str, bounds: Bounds) -> str:
    """Give the text of all pages; a file without any is refused, as it is perhaps a scan."""
    pypdf = library("pypdf", "PDF")
    # What it has to say of a broken file comes with the error, or does not matter.
    logger = logging.getLogger("pypdf")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    with refused_if_broken(name, "PDF"):
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            raise SourceError(f"{name} is a PDF locked with a password: unlock it or leave it out")
        text = gathered((page.extract_text() for page in reader.pages), name, bounds)
    if not text.strip():
        raise NoTextError(
            f"{name} is a PDF without text, perhaps a scan: recognise its text first (OCR), or "
            "leave it out"
        )
    return sound(text)
