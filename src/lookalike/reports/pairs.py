"""Pairs as a page lists them, with the counts behind each similarity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.reports import model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lookalike.reports.found import FoundPairs, Key
    from lookalike.reports.scoring import Counts, Scorer

__all__ = ["DIGITS", "Compared", "pair_columns", "rounded"]

MAX_COMPARED = 2_000
"""Documents of which every two are compared."""
DIGITS = 6


class Shared(NamedTuple):
    """The shingles of two documents."""

    both: int
    a: int
    b: int


class Compared:
    """Every two of the texts in a page, compared exactly; of many texts, of the first ones."""

    def __init__(self, scorer: Scorer | None, texts: Mapping[Key, str]) -> None:
        """Compare them; without a scorer nothing is known."""
        self.scorer = scorer
        self.keys = [*texts][:MAX_COMPARED] if scorer is not None else []
        self.places = {key: place for place, key in enumerate(self.keys)}
        self.all = len(self.keys) == len(texts)
        self.counts: Counts | None = None
        if scorer is not None and self.keys:
            self.counts = scorer.counts([texts[key] for key in self.keys])

    def shared(self, a: Key, b: Key) -> Shared | None:
        """Give what two documents share; None where they were not compared."""
        i, j = self.places.get(a), self.places.get(b)
        if self.counts is None or i is None or j is None:
            return None
        sizes = self.counts.sizes
        return Shared(int(self.counts.shared[i, j]), int(sizes[i]), int(sizes[j]))

    def matrix(self, keys: list[Key]) -> list[list[float]] | None:
        """Give the similarity of every two of some documents; None where one was not compared."""
        if self.counts is None or any(key not in self.places for key in keys):
            return None
        rows = np.array([self.places[key] for key in keys], np.int64)
        found: list[list[float]] = np.round(
            self.counts.similarity[np.ix_(rows, rows)], DIGITS
        ).tolist()
        return found


def rounded(value: float | None) -> float | None:
    """Round a similarity or a share; None where there is none."""
    return None if value is None or math.isnan(value) else round(value, DIGITS)


def pair_columns(
    found: FoundPairs,
    numbers: Mapping[Key, int],
    compared: Compared,
    shingles: Mapping[Key, int],
    *,
    shares: bool = False,
    exact: bool = True,
) -> model.Pairs:
    """Lay out pairs, the most similar first, then by the numbers of their documents.

    Where `shares`, the similarity is the share of `a` that `b` has. Where scores are not `exact`,
    what two documents share is known of those alone that were compared here.
    """
    rows = []
    for place, both in enumerate(zip(found.a, found.b, strict=True)):
        a, b = both
        a_in_b, b_in_a = found.a_in_b[place], found.b_in_a[place]
        similarity = found.similarity[place]
        if numbers[a] > numbers[b] and not found.directed:
            a, b, a_in_b, b_in_a = b, a, b_in_a, a_in_b
        known = compared.shared(a, b)
        if known is None and exact:
            known = _recovered(a, b, similarity, a_in_b, shingles, compared.scorer, shares=shares)
        if known is not None:
            a_in_b, b_in_a = known.both / max(known.a, 1), known.both / max(known.b, 1)
        rows.append((-similarity, numbers[a], numbers[b], known, a_in_b, b_in_a))
    rows.sort(key=lambda row: row[:3])
    return model.Pairs(
        a=[row[1] for row in rows],
        b=[row[2] for row in rows],
        similarity=[round(-row[0], DIGITS) for row in rows],
        shared=[None if row[3] is None else row[3].both for row in rows],
        union=[None if row[3] is None else row[3].a + row[3].b - row[3].both for row in rows],
        a_in_b=[rounded(row[4]) for row in rows],
        b_in_a=[rounded(row[5]) for row in rows],
        passages=[None] * len(rows),
        words=[None] * len(rows),
    )


def _recovered(
    a: Key,
    b: Key,
    similarity: float,
    a_in_b: float,
    shingles: Mapping[Key, int],
    scorer: Scorer | None,
    *,
    shares: bool,
) -> Shared | None:
    """Tell what two documents share from their exact score and the shingles that each has."""
    if scorer is None or a not in shingles or b not in shingles:
        return None
    size_a, size_b = shingles[a], shingles[b]
    if shares or not math.isnan(a_in_b):
        share = similarity if shares else a_in_b
        return Shared(round(share * size_a), size_a, size_b)
    if scorer.weights is not None:
        return None
    return Shared(round(similarity * (size_a + size_b) / (1 + similarity)), size_a, size_b)
