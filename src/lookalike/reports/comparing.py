"""Two documents that were compared, as a page of their own."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from lookalike import __version__
from lookalike.base.wording import count, similarity_text
from lookalike.job.running import silent
from lookalike.reports import model
from lookalike.reports.names import address_key
from lookalike.reports.pairs import DIGITS
from lookalike.reports.parts import covered_share, part_of
from lookalike.reports.scanning import scan
from lookalike.reports.sources import SOURCE, Sources
from lookalike.reports.texts import ShownText
from lookalike.text.normalise import Normalisation

if TYPE_CHECKING:
    from collections.abc import Callable

    from lookalike.reports.texts import PassageSpan
    from lookalike.score.comparison import Comparison

__all__ = ["build_comparison"]


def build_comparison(found: Comparison, names: tuple[str, str]) -> model.Report:
    """Give what the page of one pair shows."""
    options = Normalisation.parse(found.normalise)
    texts = {
        (side, name): ShownText(_text(one), options)
        for side, name, one in zip("ab", names, (found.a, found.b), strict=True)
    }
    a, b = texts.values()
    spans = _spans(found, a, b)
    size_a, size_b = found.shingles
    shared = round(found.containment.a_in_b * size_a)
    scanned = scan(Sources({}), texts, options, {}, silent, whole=True)
    numbers = {key: number for number, key in enumerate(texts)}
    parts = [part_of(key, text, scanned, numbers) for key, text in texts.items()]
    parts[0].passages["1"] = spans
    summary = model.Summary(
        command="compare",
        title=f"{names[0]} and {names[1]}",
        version=__version__,
        threshold=None,
        score=f"{'cosine' if found.metric == 'cosine' else 'Jaccard'} of {found.shingle} shingles",
        measure="similarity",
        exact=True,
        facts=[
            ("Similarity", similarity_text(found.similarity)),
            ("Shared", f"{count(shared, 'shingle')} of {size_a + size_b - shared:,} in either"),
            ("Passages", count(len(spans), "shared passage")),
        ],
        settings={"shingle": found.shingle, "metric": found.metric, "normalise": found.normalise},
        counts={},
        seconds={},
        versions={},
        warnings=[],
        notes=[*found.notes],
        left_out=[],
        files=[],
        anonymous=False,
        label=None,
        date=None,
    )
    keys = [address_key(SOURCE, name) for name in names]
    if names[0] == names[1]:
        keys[1] = address_key("b", names[1])
    documents = model.Documents(
        name=[*names],
        key=keys,
        corpus=[SOURCE, SOURCE],
        cluster=[None, None],
        kept=[None, None],
        label=[None, None],
        date=[None, None],
        length=[a.length, b.length],
        text=[0, 1],
        covered=[*map(covered_share, parts, texts.values())],
        columns={},
    )
    pairs = model.Pairs(
        a=[0],
        b=[1],
        similarity=[round(found.similarity, DIGITS)],
        shared=[shared],
        union=[size_a + size_b - shared],
        a_in_b=[round(found.containment.a_in_b, DIGITS)],
        b_in_a=[round(found.containment.b_in_a, DIGITS)],
        passages=[len(spans)],
        words=[sum(span[-1] for span in spans)],
    )
    main = model.Main(
        summary=summary,
        plan=None,
        histogram=None,
        documents=documents,
        pairs=pairs,
        clusters=[],
        near_misses=None,
        skipped=model.Skipped(0, [], []),
    )
    return model.Report(main, parts)


def _text(given: str | list[str]) -> str:
    """Give a text, or tokens as one, with blanks between."""
    return given if isinstance(given, str) else " ".join(given)


def _spans(found: Comparison, a: ShownText, b: ShownText) -> list[PassageSpan]:
    """Give the passages by where they stand in the texts as they are shown."""
    ends_a, ends_b = _ends(found.a), _ends(found.b)
    spans = []
    for one in found.passages:
        (start, end), (other, last) = ends_a(one.a_start, one.a_end), ends_b(one.b_start, one.b_end)
        spans.append((a.at(start), a.at(end), b.at(other), b.at(last), one.words))
    return spans


def _ends(given: str | list[str]) -> Callable[[int, int], tuple[int, int]]:
    """Tell where what is between two places of a text, or of a list of tokens, is in its text."""
    if isinstance(given, str):
        return lambda start, end: (start, end)
    starts = [*itertools.accumulate((len(token) + 1 for token in given), initial=0)]
    return lambda start, end: (starts[start], starts[end] - 1)
