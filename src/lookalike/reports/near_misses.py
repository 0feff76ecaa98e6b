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

__all__ = [
    "MAX_PAIRS",
    "NONE_FOUND",
    "NearMisses",
    "bounds_of",
    "is_of_containment",
    "least_of",
    "near_misses_of",
    "none_of",
]

WIDTH = 0.1
"""How far below the threshold a pair may be."""
MAX_PAIRS = 1_000
NONE_FOUND = " There are none."


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


def bounds_of(settings: Settings) -> str:
    """Say which pairs are near misses."""
    least, threshold = in_full(least_of(settings)), in_full(settings.threshold)
    return f"with a similarity of at least {least} and below {threshold}"


def is_of_containment(result: Result) -> bool:
    """Tell whether pairs are of a part and a whole."""
    return result.settings.rule == "contained" or isinstance(result, ContainmentResult)


def none_of(result: Result, *, are_read: bool, are_many: bool) -> NearMisses:
    """Say why near misses are not shown, and what to do to see them."""
    settings = result.settings
    why, what = "", f"use a threshold of {in_full(least_of(settings))}"
    if is_of_containment(result):
        why, what = "a search for containment", "ask for a smaller share"
    elif settings.simhash is not None:
        why, what = "fingerprints, which are compared by bits", "allow more bits to differ"
    elif not are_read:
        why = "documents that cannot be read again"
    elif are_many:
        why = "a corpus of this size"
    elif settings.estimate:
        why = "estimated similarities"
    else:
        why = "these settings"
    sentence = f"Near misses are not shown for {why}. To see more pairs, search again and {what}."
    return NearMisses(least_of(settings), sentence, complete=False, found=FoundPairs(False))


def near_misses_of(result: Result, compared: Compared, *, whole: bool) -> NearMisses | None:
    """Give the most similar pairs below the threshold; None where nothing could be compared.

    `whole` says that the page has the text of every document.
    """
    settings = result.settings
    # Of documents in groups, which may be a pair is not told by their texts.
    if compared.counts is None or is_of_containment(result) or settings.groups is not None:
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
    if every:
        what = f"All pairs {bounds_of(settings)}"
    else:
        documents = count(len(compared.keys), "document")
        what = f"Pairs {bounds_of(settings)}, among the {documents} whose texts are in this page"
    what += ", compared exactly for this page."
    if len(order) > MAX_PAIRS:
        what += f" The {MAX_PAIRS:,} most similar of {len(order):,} are shown."
        every = False
    if not len(order):
        what += NONE_FOUND
    return NearMisses(least, what, every, found)


def _across(
    result: Result, compared: Compared, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which pairs count: of two corpora, those of one document of each."""
    corpora = np.array([key[0] for key in compared.keys], object)
    if result.command == "find" and len(set(corpora.tolist())) > 1:
        apart: NDArray[np.bool_] = corpora[first] != corpora[second]
        return apart
    return np.ones(len(first), np.bool_)
