"""What the readers of one document share: bounds of what is held, and one way to refuse a file."""

from __future__ import annotations

import importlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import MissingExtraError, SourceError
from lookalike.base.memory import size
from lookalike.read.files import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lookalike.read.streams import Bounds

__all__ = ["broken", "gathered", "held", "library", "refused_if_broken", "sound"]

SPOKEN_WITH_AN = "AEFHILMNORSX"
"""Letters whose names begin with a vowel, as kinds of files are spelled out."""


def library(package: str, kind: str) -> Any:
    """Load a library of the extra for documents."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(f"{kind} files", "documents") from None


@contextmanager
def refused_if_broken(name: str, kind: str) -> Iterator[None]:
    """Turn whatever a file breaks its reader with into one line."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:  # a broken file breaks its reader in any way
        raise broken(name, kind, error) from None


def broken(name: str, kind: str, error: object) -> SourceError:
    """Say that a file is not what its name says, or is damaged."""
    article = "an" if kind[0].upper() in SPOKEN_WITH_AN else "a"
    reason = one_line(error)[:200]
    return SourceError(
        f"{name} is {article} {kind} file that cannot be read ({reason}): fix it or leave it out"
    )


def held(file: Any, name: str, bounds: Bounds) -> bytes:
    """Read a file of which little is text, as pictures are in it, if it fits in memory."""
    length = file.seek(0, os.SEEK_END)
    if length > bounds.part:
        raise bounds.too_much(f"{name} has {size(length)}", bounds.part)
    file.seek(0)
    data: bytes = file.read()
    return data


def gathered(parts: Iterable[str], name: str, bounds: Bounds, between: str = "\n") -> str:
    """Put lines together, as many as fit: pages may share what they show."""
    found, length = [], 0
    for part in parts:
        length += len(part) + len(between)
        if length > bounds.record:
            raise bounds.too_long(f"the text of {name}")
        found.append(part)
    return between.join(found)


def sound(text: str) -> str:
    """Replace halves of characters, which fonts without a map of their letters give."""
    return text.encode("utf-8", "replace").decode()
