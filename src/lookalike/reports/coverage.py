"""One document against all others: which stretches of it stand elsewhere, and where.

A word is covered by another document if it is in a run of five words that stands there too. A
stretch goes on for as long as every run of five words in it stands in the same document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.string_columns import strings
from lookalike.text.document_frequencies import HashIndex
from lookalike.text.normalise import Normalisation, normalise
from lookalike.text.passages import MIN_WORDS
from lookalike.text.shingles import Shingling, shingle_hashes

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.reports.texts import ShownText

__all__ = ["MAX_HOLDERS", "Covered", "Runs", "Stretch"]

RUNS = Shingling("words", MIN_WORDS)
MAX_HOLDERS = 64
"""Documents that are remembered of a run of words: the first ones; all are counted."""
MAX_SHARES = 50
"""Documents that are named for one text."""
MANY_DOCUMENTS = 5
"""Documents, each of another cluster, from which on a run of words is boilerplate."""
MANY_SHARE = 0.01
"""And which share of all documents they are, at the least."""


class Stretch(NamedTuple):
    """Words of a text, from one to another, that stand in a document; both are included."""

    first: int
    last: int
    document: int


@dataclass
class Covered:
    """What is known of one text: all in words of it."""

    stretches: list[Stretch]
    """In order, without overlap."""
    shares: list[tuple[int, list[tuple[int, int]]]]
    """Of each other document, the words that stand in it: from and to, both included.

    Of many documents, those in which most words stand.
    """
    boilerplate: list[tuple[int, int, int]]
    """From and to, and how many documents share it."""
    more: int = 0
    """Documents that are not among the shares, as others have more."""
    crowded: bool = False
    """Whether a run of it is in more documents than are remembered of one."""


@dataclass
class Runs:
    """The runs of five words of some texts, and which documents of a corpus have them too."""

    texts: list[ShownText]
    options: Normalisation
    _of_text: list[NDArray[np.int64]] = field(default_factory=list)
    """Of each text, the number of the run that begins at each of its words."""
    _seen: int = 0
    """Documents that were counted."""
    _holders: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    """Runs and the documents that have them."""

    def __post_init__(self) -> None:
        """Number the runs of the texts."""
        joined = [" ".join(text.words[0]) for text in self.texts]
        raw = normalise(strings(joined), Normalisation(raw=True))
        found = shingle_hashes(raw, RUNS)
        hashes, numbers = np.unique(found.elements, return_inverse=True)
        self._index = HashIndex(hashes)
        self._count = len(hashes)
        self._holding = np.zeros(len(hashes), np.int64)
        self._documents = np.zeros(len(hashes), np.int64)
        for row, text in enumerate(self.texts):
            mine = numbers[found.offsets[row] : found.offsets[row + 1]].astype(np.int64)
            expected = len(text.words[0]) - MIN_WORDS + 1
            # A word whose canonical form falls apart in two would move all after it.
            whole = len(mine) == expected
            self._of_text.append(mine if whole else np.empty(0, np.int64))
            text.runs = mine if whole else None

    def look(
        self, texts: pa.Array, documents: NDArray[np.int64], counted: NDArray[np.bool_]
    ) -> None:
        """Look for the runs in some documents, by their numbers.

        For boilerplate only some are `counted`: one of each cluster, whose members are alike.
        """
        found = shingle_hashes(normalise(texts, self.options), RUNS)
        places = self._index.places(found.elements)
        row = np.repeat(np.arange(len(documents)), np.diff(found.offsets))
        there = places >= 0
        self._seen += int(counted.sum())
        # Each run once of each document, by run and then in the order of the documents.
        keys = np.unique(places[there] * len(documents) + row[there])
        run, row = keys // max(len(documents), 1), keys % max(len(documents), 1)
        np.add.at(self._documents, run[counted[row]], 1)
        first = np.searchsorted(run, run)
        rank = np.arange(len(run)) - first + self._holding[run]
        few = rank < MAX_HOLDERS
        np.add.at(self._holding, run, 1)
        self._holders.append((run[few], documents[row[few]]))

    def covered(self, own: list[int], progress: Callable[[int, int], None]) -> list[Covered]:
        """Say of each text, whose own document is given, what stands elsewhere.

        `progress` hears how many texts are done, of how many.
        """
        run = np.concatenate([np.empty(0, np.int64), *(one[0] for one in self._holders)])
        holder = np.concatenate([np.empty(0, np.int64), *(one[1] for one in self._holders)])
        order = np.lexsort((holder, run))
        run, holder = run[order], holder[order]
        starts = np.searchsorted(run, np.arange(self._count + 1))
        found = []
        for mine, document in zip(self._of_text, own, strict=True):
            found.append(self._covered(mine, document, starts, holder))
            progress(len(found), len(own))
        return found

    def _covered(
        self,
        mine: NDArray[np.int64],
        own: int,
        starts: NDArray[np.int64],
        holder: NDArray[np.int64],
    ) -> Covered:
        sizes = starts[mine + 1] - starts[mine]
        place = np.repeat(np.arange(len(mine)), sizes)
        before = np.repeat(np.cumsum(sizes) - sizes, sizes)
        document = holder[np.repeat(starts[mine], sizes) + np.arange(len(place)) - before]
        others = document != own
        place, document = place[others], document[others]
        order = np.lexsort((place, document))
        place, document = place[order], document[order]
        begins = np.ones(len(place), np.bool_)
        begins[1:] = (np.diff(document) != 0) | (np.diff(place) != 1)
        at = np.flatnonzero(begins)
        ends = np.append(at[1:], len(place))[: len(at)] - 1
        stretches = [
            Stretch(int(place[i]), int(place[j]) + MIN_WORDS - 1, int(document[i]))
            for i, j in zip(at.tolist(), ends.tolist(), strict=True)
        ]
        shares = _by_document(stretches)
        return Covered(
            _longest(stretches),
            shares[:MAX_SHARES],
            self._boilerplate(mine),
            max(len(shares) - MAX_SHARES, 0),
            crowded=bool((self._holding[mine] > MAX_HOLDERS).any()),
        )

    def _boilerplate(self, mine: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        least = max(MANY_DOCUMENTS, MANY_SHARE * self._seen)
        many = np.flatnonzero(self._documents[mine] >= least)
        if not len(many):
            return []
        cuts = np.flatnonzero(np.diff(many) >= MIN_WORDS) + 1
        return [
            (int(one[0]), int(one[-1]) + MIN_WORDS - 1, int(self._documents[mine[one]].max()))
            for one in np.split(many, cuts)
        ]


def _longest(stretches: list[Stretch]) -> list[Stretch]:
    """Cover all that any stretch covers, without overlap: from left to right, the longest first."""
    waiting = sorted(stretches, key=lambda one: (one.first, -one.last, one.document))
    chosen: list[Stretch] = []
    at = i = 0
    best: Stretch | None = None
    while True:
        # Of all that reach over the next word, the one that goes on the longest.
        while i < len(waiting) and waiting[i].first <= at:
            if best is None or waiting[i].last > best.last:
                best = waiting[i]
            i += 1
        if best is not None and best.last >= at:
            chosen.append(Stretch(max(best.first, at), best.last, best.document))
            at = best.last + 1
        elif i < len(waiting):
            at = waiting[i].first
        else:
            return chosen


def _by_document(stretches: list[Stretch]) -> list[tuple[int, list[tuple[int, int]]]]:
    """Give the words that each document covers, without overlap, those of the most words first."""
    found: dict[int, list[tuple[int, int]]] = {}
    for one in stretches:
        mine = found.setdefault(one.document, [])
        if mine and one.first <= mine[-1][1] + 1:
            mine[-1] = (mine[-1][0], max(mine[-1][1], one.last))
        else:
            mine.append((one.first, one.last))
    return sorted(
        found.items(),
        key=lambda share: (-sum(1 + end - start for start, end in share[1]), share[0]),
    )
