"""A corpus thinned without all its pairs: each document is compared with kept ones only.

The result is that of keeping greedily in the order of preference, as `components.stars` does on all
pairs; but a thousand copies of one text make a thousand comparisons, not half a million.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import QuadraticError
from lookalike.base.wording import setting
from lookalike.candidates.buckets import BucketIndex
from lookalike.cluster.components import stars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.candidates.buckets import Buckets, Layout
    from lookalike.candidates.prefilter import Prefilter
    from lookalike.score.jaccard import Scored

__all__ = ["Thinned", "Thinning"]

BATCH_DOCUMENTS = 1 << 13
"""Documents that meet the kept ones at a time."""
SMALL_BATCH_DOCUMENTS = 1 << 8
"""Documents that are compared with each other whatever their number of pairs."""
PAIRS_PER_DOCUMENT = 16
"""Pairs for each document of a batch up to which all are compared at once."""
MAX_COMPARED_PER_DOCUMENT = 10_000
"""Comparisons for each document above which a corpus cannot be thinned in bounded work."""
MIN_COMPARED_LIMIT = 1_000_000_000


@dataclass
class Thinned:
    """Which documents, by their places, stay, and for each other the kept one it names."""

    kept: NDArray[np.bool_]
    nearest: NDArray[np.int64]
    similarity: NDArray[np.float64]
    candidates: int = 0
    rejected: int = 0
    """Candidates that were found to be below the threshold."""
    dismissed: int = 0
    """Rejected candidates whose sketches alone told so."""

    @classmethod
    def all_kept(cls, documents: int) -> Thinned:
        """Begin with all documents kept."""
        every = np.arange(documents, dtype=np.int64)
        return cls(np.ones(documents, np.bool_), every, np.ones(documents))


@dataclass
class Thinning:
    """Documents in the order of preference, each compared with kept ones only."""

    buckets: Buckets
    layout: Layout
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored]
    """Scores pairs of places."""
    documents: NDArray[np.int64]
    """The document at each place."""
    found: Thinned
    """What is known so far, and becomes the result."""
    fixed: int = 0
    """Places, the first ones, of documents that are never removed."""
    prefilter: Prefilter | None = None
    """By places, as the candidates are."""
    keys: NDArray[np.uint64] | None = None
    """Of all bands and documents, where the cascade asks for more than a shared bucket."""
    _index: BucketIndex = field(init=False)

    def run(self, start: int = 0) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Settle the documents from a place on; those before it are settled as `found` says.

        Gives, batch by batch, the place up to which all are settled, and the places of the
        batch at which documents are not kept.
        """
        self._index = BucketIndex(self.buckets)
        kept = self.found.kept
        for base, stop in self._batches():
            batch = self.buckets.batch(base, stop)
            if stop > max(start, self.fixed):
                self._thin(batch, base)
                self._refuse_if_quadratic()
                yield stop, base + np.flatnonzero(~kept[base:stop])
            else:
                self._index.insert(batch, base, kept[base:stop])

    def _batches(self) -> Iterator[tuple[int, int]]:
        for begin, end in ((0, self.fixed), (self.fixed, self.buckets.documents)):
            for base in range(begin, end, BATCH_DOCUMENTS):
                yield base, min(base + BATCH_DOCUMENTS, end)

    def _thin(self, batch: NDArray[np.uint32], base: int) -> None:
        alive = np.ones(batch.shape[1], np.bool_)
        self._compare_with_kept(batch, base, alive, least=0)
        self._decide(batch, base, alive)
        # One that went early has not met those kept before it in this batch: one may be nearer.
        removed = ~self.found.kept[base : base + len(alive)]
        if removed.any():
            self._compare_with_kept(batch, base, removed, least=base)

    def _compare_with_kept(
        self, batch: NDArray[np.uint32], base: int, alive: NDArray[np.bool_], *, least: int
    ) -> None:
        """Compare with the kept ones from a place on; each similar one names its nearest."""
        found = self.found
        for first, second in self._index.candidates(
            batch, base, alive=alive, least=least, insert=False
        ):
            before = np.flatnonzero(first < second)
            scored = self._compared(first[before], second[before])
            # Of each document the most similar kept one, the first of equally similar ones.
            order = np.lexsort((scored.first, -scored.similarity, scored.second))
            which, at = np.unique(scored.second[order], return_index=True)
            best = order[at]
            kept, similarity = scored.first[best], scored.similarity[best]
            better = found.kept[which] | (similarity > found.similarity[which])
            better |= (similarity == found.similarity[which]) & (kept < found.nearest[which])
            found.kept[which] = False
            found.nearest[which[better]] = kept[better]
            found.similarity[which[better]] = similarity[better]
        alive &= found.kept[base : base + len(alive)]

    def _decide(self, batch: NDArray[np.uint32], base: int, alive: NDArray[np.bool_]) -> None:
        """Decide among documents of which none is similar to a kept one before them."""
        size = len(alive)
        max_pairs = PAIRS_PER_DOCUMENT * size if size > SMALL_BATCH_DOCUMENTS else size * size
        blocks = []
        count = 0
        for block in self._index.candidates(batch, base, alive=alive, least=base, insert=True):
            blocks.append(block)
            count += len(block[0])
            if count > max_pairs:
                break
        self._index.remove(batch, base)
        if count > max_pairs:
            # Many are alike. Once half of them is settled, few kept ones speak for it.
            half = size // 2
            self._decide(batch[:, :half].copy(), base, alive[:half])
            rest, begin = batch[:, half:].copy(), base + half
            self._compare_with_kept(rest, begin, alive[half:], least=base)
            self._decide(rest, begin, alive[half:])
            return
        for scored in [self._compared(*_joined(blocks))] if blocks else []:
            found = stars(
                np.arange(size), scored.first - base, scored.second - base, scored.similarity
            )
            removed = np.flatnonzero(~found.kept)
            self.found.kept[base + removed] = False
            self.found.nearest[base + removed] = base + found.nearest[removed]
            self.found.similarity[base + removed] = found.similarity[removed]
            alive[removed] = False
        self._index.insert(batch, base, alive)

    def _compared(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Scored:
        if self.keys is not None:
            documents = self.documents
            holding = self.layout.holds(self.keys, documents[first], documents[second])
            first, second = first[holding], second[holding]
        count = len(first)
        if self.prefilter is not None:
            first, second = self.prefilter.passing(first, second)
        scored = self.compare(first, second)
        self.found.candidates += count
        self.found.rejected += count - len(scored)
        self.found.dismissed += count - len(first)
        return scored

    def _refuse_if_quadratic(self) -> None:
        count, found = self.buckets.documents, self.found
        if found.candidates > max(MIN_COMPARED_LIMIT, MAX_COMPARED_PER_DOCUMENT * count):
            raise QuadraticError(
                f"{found.candidates:,} comparisons for {count:,} documents, of which "
                f"{found.rejected:,} failed: most are in one bucket and few are similar; "
                f"use a longer {setting('shingle')}, a higher {setting('threshold')}, or "
                f"{setting('max_df')} for shared boilerplate"
            )


def _joined(
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return (
        np.concatenate([first for first, _ in blocks]),
        np.concatenate([second for _, second in blocks]),
    )
