"""What a pattern matched: what of it can be read, and what is skipped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.base.wording import count
from lookalike.read.content import look_at_all
from lookalike.read.files import (
    ARRAY,
    KINDS_ARE_LISTED,
    OTHER_KIND,
    Unread,
    described,
    kind_of,
)
from lookalike.read.own_results import OWN_RESULT, is_result

if TYPE_CHECKING:
    from lookalike.read.files import Listing, Source

__all__ = ["readable_matches"]


def readable_matches(
    matched: list[Source], pattern: str, found: Listing, *, links: int = 0
) -> list[Source]:
    """Leave out what was not asked for or cannot be read, and arrays unless all are."""
    refusals = {source.name: _refusal(source, found) for source in matched}
    passed = {name: reason for name, reason in refusals.items() if reason}
    passed |= _no_texts([source for source in matched if source.name not in passed], found)
    readable = [source for source in matched if source.name not in passed]
    kept = [source for source in readable if not _is_array(source)] or readable
    if not kept:
        others = ""
        if matched:
            why = described(Unread.of(*one) for one in passed.items())
            others = f" that can be read, of {len(matched)} matched, {why}"
        if links:
            others += f" ({count(links, 'link')} to folders not followed)"
        advice = "check the pattern" + (f"; {KINDS_ARE_LISTED}" if matched else "")
        raise SourceError(f"{pattern} matches no file{others}: {advice}")
    for name, reason in passed.items():
        found.note_skipped(reason, [name])
    names = {source.name for source in kept}
    arrays = (source.name for source in readable if source.name not in names)
    found.note_skipped(OTHER_KIND, arrays)
    return kept


def _refusal(source: Source, found: Listing) -> str:
    """Say why a file was not asked for; of a folder, each file in it is told."""
    if source.is_local_folder:
        return OWN_RESULT if is_result(Path(source.path)) else ""
    return found.refusal(source.name, source.name)


def _no_texts(matched: list[Source], found: Listing) -> dict[str, str]:
    """Give the files that are of no kind by their names and no text either, and why."""
    unknown = [one for one in matched if not one.is_local_folder and _is_unknown(one, found)]
    reasons = look_at_all(((one.path, one.system) for one in unknown), found.encodings)
    return {one.name: reason for one, reason in zip(unknown, reasons, strict=True) if reason}


def _is_unknown(source: Source, found: Listing) -> bool:
    """Tell a file whose kind neither its name nor what it holds tells."""
    named = kind_of(source.name)
    if named is not None and named[1] is None:
        return False  # of whatever kind, it can be read
    return found.kinds.tell(source.name, source.path, source.system) is None


def _is_array(source: Source) -> bool:
    return kind_of(source.name) == ARRAY and not source.is_local_folder
