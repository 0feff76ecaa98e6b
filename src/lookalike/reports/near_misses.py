"""Pairs just below the threshold, where every two of the texts of a page are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.wording import count, in_full
from lookalike.reports.found import FoundPairs
from lookalike.results import ContainmentResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.reports.pairs import Compared
    from lookalike.results import Result
    from lookalike.settings import Settings

__all__ = ["MAX_PAIRS", "NearMisses", "least_of", "near_misses_of"]

WIDTH = 0.1
"""How far below the threshold a pair may be."""
MAX_PAIRS = 1_000


@dataclass
class NearMisses:
    """Pairs below the threshold, and what is known of them."""

    least: float
    what: str
    complete: bool
    found: FoundPairs


def least_of(settings: Settings) -> float:
    """Give the similarity from which on a pair is a near miss."""
    return max(round(settings.threshold - WIDTH, 12), 0.0)


def near_misses_of(result: Result, compared: Compared, *, whole: bool) -> NearMisses | None:
    """Give the most similar pairs below the threshold; None where nothing could be compared.

    `whole` says that the page has the text of every document.
    """
    settings = result.settings
    contained = settings.rule == "contained" or isinstance(result, ContainmentResult)
    # Of documents in groups, which may be a pair is not told by their texts.
    if compared.counts is None or contained or settings.groups is not None:
        return None
    least = least_of(settings)
    similarity = compared.counts.similarity
    first, second = np.nonzero(
        np.triu((similarity >= least) & (similarity < settings.threshold), 1)
    )
    allowed = _across(result, compared, first, second)
    first, second = first[allowed], second[allowed]
    order = np.lexsort((second, first, -similarity[first, second]))
    found = FoundPairs(directed=False, count=len(order))
    unknown = float("nan")
    for place in order[:MAX_PAIRS].tolist():
        i, j = int(first[place]), int(second[place])
        found.add(compared.keys[i], compared.keys[j], float(similarity[i, j]), unknown, unknown)
    every = whole and compared.all
    bounds = f"from {in_full(least)} up to {in_full(settings.threshold)}, which is not reached"
    if every:
        what = f"All pairs of the corpus {bounds}"
    else:
        documents = count(len(compared.keys), "document")
        what = f"Pairs {bounds}, among the {documents} whose texts are in this page"
    if len(order) > MAX_PAIRS:
        what += f"; the {MAX_PAIRS:,} most similar of {len(order):,} are shown"
        every = False
    return NearMisses(least, f"{what}. They were compared exactly for this page.", every, found)


def _across(
    result: Result, compared: Compared, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which pairs count: of two corpora, those of one document of each."""
    corpora = np.array([key[0] for key in compared.keys], object)
    if result.command == "find" and len(set(corpora.tolist())) > 1:
        apart: NDArray[np.bool_] = corpora[first] != corpora[second]
        return apart
    return np.ones(len(first), np.bool_)
