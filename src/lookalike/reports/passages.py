"""The passages that the two texts of a pair share, put where the page looks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.reports.gathering import in_turn
from lookalike.reports.texts import shared_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lookalike.reports import model
    from lookalike.reports.texts import ShownText

__all__ = ["place_passages"]

TOLD_PAIRS = 100
"""Pairs after which progress is told."""
MAX_WORDS = 100_000_000
"""Of the texts of pairs whose passages are looked for, each counted as often as it is in one."""


def place_passages(
    pairs: model.Pairs,
    texts: Mapping[int, ShownText],
    parts: Mapping[int, model.Text],
    cluster: list[int | None],
    progress: Callable[[int, int], None],
    spent: int = 0,
) -> int:
    """Find the passages of pairs whose texts are there, each cluster's first pairs first.

    Texts and parts are those of documents by their numbers. `progress` hears how many pairs are
    done, of how many. Gives the words that were looked through so far, these and those `spent`
    before; past a bound no more are.
    """
    both = [
        place
        for place, (a, b) in enumerate(zip(pairs.a, pairs.b, strict=True))
        if a in texts and b in texts
    ]
    groups = [cluster[pairs.a[place]] or (pairs.a[place],) for place in both]
    for done, turn in enumerate(in_turn(groups), 1):
        place = both[turn]
        a, b = pairs.a[place], pairs.b[place]
        spent += len(texts[a].words[0]) + len(texts[b].words[0])
        if spent > MAX_WORDS:
            break
        spans = shared_spans(texts[a], texts[b])
        parts[a].passages[str(b)] = spans
        pairs.passages[place] = len(spans)
        pairs.words[place] = sum(span[-1] for span in spans)
        if done % TOLD_PAIRS == 0 or done == len(both):
            progress(done, len(both))
    return spent
