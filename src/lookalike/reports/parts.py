"""The part of a page that is one text: what stands elsewhere, and what is boilerplate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.reports import model
from lookalike.reports.coverage import MAX_HOLDERS
from lookalike.reports.pairs import DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lookalike.reports.coverage import Stretch
    from lookalike.reports.found import Key
    from lookalike.reports.scanning import Scanned
    from lookalike.reports.texts import ShownText

__all__ = ["covered_share", "part_of"]


def part_of(key: Key, text: ShownText, scanned: Scanned, numbers: Mapping[Key, int]) -> model.Text:
    """Lay out what is known of one text, but for its passages."""
    covered = scanned.covered[key]
    number = {place: numbers[scanned.keys[place]] for place in scanned.used(covered)}
    shares = [
        (number[document], sum(last - first + 1 for first, last in words))
        for document, words in covered.shares
    ]
    shares.sort(key=lambda share: (-share[1], share[0]))
    return model.Text(
        document=numbers[key],
        text=text.text,
        coverage=_coverage(text, covered.stretches, number),
        sources=[(document, _share(words, text)) for document, words in shares],
        more_sources=covered.more,
        remembered=MAX_HOLDERS if covered.crowded else None,
        boilerplate=[
            (*text.span(first, last), documents) for first, last, documents in covered.boilerplate
        ],
    )


def _coverage(
    text: ShownText, stretches: Sequence[Stretch], number: Mapping[int, int]
) -> list[model.Coverage]:
    """Lay out stretches; where one follows on another, what stands between them is covered too."""
    found: list[model.Coverage] = []
    before = None
    for one in stretches:
        start, end = text.span(one.first, one.last)
        if before is not None and one.first == before + 1:
            found[-1].end = start
        found.append(model.Coverage(start, end, number[one.document], one.last - one.first + 1))
        before = one.last
    return found


def covered_share(part: model.Text, text: ShownText) -> float:
    """Give which share of the words of a text stands in other documents."""
    return _share(sum(one.words for one in part.coverage), text)


def _share(words: int, text: ShownText) -> float:
    return round(words / max(len(text.words[0]), 1), DIGITS)
