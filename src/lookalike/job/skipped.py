"""What a user is told of files that were not read, before the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.base.wording import counted_reasons, skipped_by_kind
from lookalike.read.chosen_files import EXCLUDED, IGNORED, NOT_INCLUDED
from lookalike.read.content import BINARY
from lookalike.read.files import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lookalike.read.files import Unread

__all__ = ["skipped_line"]

NAMED_FILES = 5
"""Files of which each is named, at the most."""
FIRST_FILES = 3
"""Those that are named of more."""
LAST_NAMED = {BINARY: 1, EXCLUDED: 2, NOT_INCLUDED: 2, IGNORED: 2, HIDDEN: 3}
"""Reasons for which files are skipped, and how late they are named: the most expected last."""


def skipped_line(skipped: Mapping[str, int], unread: Sequence[Unread], where: str) -> str:
    """Say how many files were skipped and why, and name them, or some of many.

    `where` says what names all of them.
    """
    lines = []
    for kind, reasons in skipped_by_kind(skipped).items():
        line = counted_reasons(kind, reasons)
        if kind == "file":
            files = [one for one in unread if one.reason in reasons]
            # First those that a user may have meant to be read.
            files.sort(key=lambda one: LAST_NAMED.get(one.reason, 0))
            line = _named(line, files) if len(files) <= NAMED_FILES else _some(line, files, where)
        lines.append(f"Skipped {line}.")
    return " ".join(lines)


def _named(counted: str, files: Sequence[Unread]) -> str:
    names = (f"{one.path} ({one.detail})" if one.detail else one.path for one in files)
    return f"{counted}: {', '.join(names)}"


def _some(counted: str, files: Sequence[Unread], where: str) -> str:
    names = ", ".join(one.path for one in files[:FIRST_FILES])
    return f"{counted}: {names}, …; {where}"
