"""What `find` and `dedup` say of pairs below the threshold: which came nearest, and where to look.

Where much is found too, it is the pair by which to judge whether the threshold is right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike.results import DedupResult, FindResult

__all__ = ["nearest_lines", "nearest_text", "where_to_look"]

LEAST_WORTH_SEARCHING = 0.2
"""A threshold below which most of what is found is chance."""
USUAL_NEXT = 0.6


def nearest_text(result: FindResult | DedupResult, *, found: int = 0) -> str:
    """Say which pair below the threshold is the most similar, and among which pairs."""
    from lookalike.base.wording import count, in_full, similarity_text, visible

    summary, settings = result.summary, result.settings
    nearest, compared = summary.nearest, summary.candidates - summary.dismissed
    if nearest is None:
        if found:
            return "No other pair was near enough to be compared."
        if compared:
            return f"None of the {count(compared, 'pair')} compared shares anything."
        return "No pair was near enough to be compared."
    among = "all pairs" if nearest.whole else f"the {count(compared, 'pair')} compared"
    names = f"{visible(nearest.a)} and {visible(nearest.b)}"
    if settings.simhash is not None:
        bits = count(nearest.bits, "bit")
        return f"Of {among}, the nearest beyond that differ in {bits}: {names}."
    about = "about " if settings.by_sketches else ""
    similarity = similarity_text(nearest.similarity, settings.threshold)
    below = f"below {in_full(settings.threshold)}"
    return f"Of {among}, the most similar {below} has {about}{similarity}: {names}."


def where_to_look(result: FindResult | DedupResult) -> str:
    """Say how to find more: a lower threshold where that helps, and parts of documents."""
    settings, found = result.settings, result.summary.nearest
    ways = []
    if settings.simhash is None:
        near = USUAL_NEXT if found is None else math.floor(found.similarity * 10) / 10
        if LEAST_WORTH_SEARCHING <= near < settings.threshold:
            ways.append(f"-t {near:g} finds less similar pairs")
    if settings.shingle != "auto":
        ways.append("`lookalike contained` finds quotations and excerpts")
    return "; ".join(ways) + "." if ways else ""


def nearest_lines(result: FindResult | DedupResult, *, found: int) -> list[str]:
    """Give both as facts of a summary; the second where nothing was found."""
    if result.summary.distinct <= 1:
        return []
    hint = "" if found else where_to_look(result)
    lines = [f"Nearest    {nearest_text(result, found=found)}", f"Next       {hint}"]
    return lines if hint else lines[:1]
