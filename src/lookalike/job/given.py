"""What a function is given: its settings, and texts that may be in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lookalike.settings import settings_of

if TYPE_CHECKING:
    from lookalike.settings import Settings

__all__ = ["settings_from", "text_of"]


def settings_from(options: Any, **others: Any) -> Settings:
    """Give the settings among options; a text to ignore may be in a file."""
    ignore = getattr(options, "ignore", None)
    if ignore is not None:
        told = {"encoding": options.encoding, "strict_encoding": options.strict_encoding}
        others["ignore"], (name, note) = text_of(ignore, **told)
        if note and options.say is not None:
            options.say(f"{name}: {note}")
    return settings_of(options, **others)


def text_of(text: Any, **told: Any) -> tuple[Any, tuple[str, str]]:
    """Give the text of a file, with its name and a note of how it was read, if there is one.

    What is no name of a file is given as it is.
    """
    if not isinstance(text, os.PathLike):
        return text, ("", "")
    from lookalike.read import read_document

    name = os.fspath(text)
    found, note = read_document(name, **told)
    return found, (name, note)
