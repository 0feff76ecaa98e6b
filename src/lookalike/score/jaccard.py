"""Candidates to scored pairs: the exact similarity of their shingles, or an estimate."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.candidates.union_find import UnionFind
from lookalike.kernels import jaccard as kernels
from lookalike.text.shingles import element_sets, element_sets_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.score.nearest import Below
    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Sets, Shingling

__all__ = ["Scored", "estimate", "in_pieces", "known_scores", "verify", "verify_texts"]

B = TypeVar("B")

PIECE_PAIRS = 1 << 13
"""Pairs that one thread compares at a time."""
PIECE_BYTES = 1 << 20
"""Bytes of text whose sets one thread holds at a time."""
DOCUMENTS_PER_PAIR = 64
"""Documents for each pair above which the pairs are few beside all documents."""
WHOLE_BYTES = 1 << 25
"""Bytes of text whose sets are held at once where they are compared again and again."""


@dataclass(frozen=True)
class Scored:
    """Pairs of rows with what they share.

    Estimated pairs have no containment: it is NaN.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    first_in_second: NDArray[np.float64]
    second_in_first: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.first)

    def at(self, rows: NDArray[np.int64]) -> Scored:
        """Give the same pairs by the rows that their places stand for."""
        return replace(self, first=rows[self.first], second=rows[self.second])

    def some(self, chosen: NDArray[np.bool_] | slice) -> Scored:
        """Give some of the pairs."""
        return Scored(
            self.first[chosen],
            self.second[chosen],
            self.similarity[chosen],
            self.first_in_second[chosen],
            self.second_in_first[chosen],
        )

    @classmethod
    def joined(cls, parts: list[Scored]) -> Scored:
        """Put several one after the other."""
        whole = np.empty(0, np.int64)
        real = np.empty(0, np.float64)
        return cls(
            np.concatenate([whole, *(part.first for part in parts)]),
            np.concatenate([whole, *(part.second for part in parts)]),
            np.concatenate([real, *(part.similarity for part in parts)]),
            np.concatenate([real, *(part.first_in_second for part in parts)]),
            np.concatenate([real, *(part.second_in_first for part in parts)]),
        )


def verify(
    sets: Sets,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare each pair of sets exactly, and keep those at or above the threshold.

    `below` hears of the most similar of the others. The sets hold 64-bit elements: among all the
    shingles of two documents of a million each, two that differ collide with a probability below
    one in a million.
    """
    sizes = sets.sizes()
    size_first, size_second = sizes[first], sizes[second]
    # Sets of very different size cannot be similar, whatever they hold.
    small, large = np.minimum(size_first, size_second), np.maximum(size_first, size_second)
    least = threshold if below is None else min(threshold, below.least)
    possible = np.flatnonzero(small >= least * large - 0.5)
    first, second = first[possible], second[possible]
    counts = np.empty(len(first), np.int64)

    def count(piece: slice) -> None:
        mine = first[piece], second[piece]
        # What is already known to be near makes the rest quick to give up.
        least = threshold if below is None else min(threshold, below.least)
        kernels.shared(sets.elements, sets.offsets, *mine, least, counts[piece])
        if below is not None:
            similarity = _similarity(counts[piece], sizes[mine[0]], sizes[mine[1]])
            lower = np.flatnonzero((similarity < threshold) & (similarity >= below.least))
            below.offer(mine[0][lower], mine[1][lower], similarity[lower])

    for _ in in_order(count, pieces(np.ones(len(first), np.int64), PIECE_PAIRS), threads):
        pass
    return _scored(first, second, counts, sizes[first], sizes[second], threshold)


def verify_texts(
    documents: Canonical | Texts,
    shingling: Shingling,
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare pairs of documents, by their places in `rows`, on sets that are built for it."""
    buffers = threading.local()

    def build(part: Canonical, mine: NDArray[np.int64], threads: int) -> Sets:
        if threads > 1:
            return element_sets(part, shingling, rows=mine, threads=threads)
        needed = int(part.lengths(mine).sum()) + 1
        if len(getattr(buffers, "buffer", ())) < needed:
            buffers.buffer = np.empty(needed, np.uint64)
        return element_sets_in(buffers.buffer, part, shingling, mine)

    def score(
        sets: Sets,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        threads: int,
        below: Below | None,
    ) -> Scored:
        return verify(sets, left, right, threshold=threshold, threads=threads, below=below)

    return in_pieces(documents, rows, first, second, build, score, threads=threads, below=below)


def in_pieces(
    documents: Canonical | Texts,
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    build: Callable[[Canonical, NDArray[np.int64], int], B],
    score: Callable[[B, NDArray[np.int64], NDArray[np.int64], int, Below | None], Scored],
    *,
    threads: int,
    below: Below | None = None,
) -> Scored:
    """Score pairs of documents, by their places in `rows`, on what is built of the documents.

    Where few documents make many pairs, it is built once. Else in pieces, so that no more is held
    at a time than the threads work on; pairs that hang together come one after the other, so that
    it is built once a piece, and most documents are in one piece only.
    """
    involved, left, right = _involved(first, second, len(rows))
    chosen = rows[involved]
    lengths = documents.lengths(chosen)
    distinct = int(lengths.sum())
    paired = int(lengths[left].sum() + lengths[right].sum())
    few = paired <= PIECE_BYTES and len(first) <= PIECE_PAIRS
    if few or (distinct <= WHOLE_BYTES and paired > 4 * distinct):
        part, mine = documents.part(chosen)
        heard = None if below is None else below.among(involved)
        return score(build(part, mine, threads), left, right, threads, heard).at(involved)
    forest = UnionFind(len(involved))
    forest.unite(left, right)
    order = forest.together(left)
    left, right = left[order], right[order]

    def work(piece: slice) -> Scored:
        among, first, second = _involved(left[piece], right[piece], len(chosen))
        part, mine = documents.part(chosen[among])
        heard = None if below is None else below.among(involved[among])
        return score(build(part, mine, 1), first, second, 1, heard).at(involved[among])

    return Scored.joined(list(in_order(work, _cut(left, right, lengths), threads)))


def _involved(
    first: NDArray[np.int64], second: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give which of so many are in a pair, in order, and the pairs by their places among those."""
    if DOCUMENTS_PER_PAIR * len(first) < count:
        among, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        return among, places[: len(first)], places[len(first) :]
    # A place for each of all takes less time than to sort those in pairs.
    places = np.zeros(count, np.int64)
    places[first] = 1
    places[second] = 1
    among = np.flatnonzero(places)
    places[among] = np.arange(len(among))
    return among, places[first], places[second]


def _cut(
    left: NDArray[np.int64], right: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Iterator[slice]:
    """Cut pairs into pieces of a bounded number of bytes."""
    ends = np.empty(len(left), np.int64)
    marks = np.zeros(len(lengths), np.uint32)
    found = kernels.cut(left, right, lengths, PIECE_BYTES, marks, ends)
    starts = np.append(0, ends[:found])
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield slice(start, stop)


def _similarity(
    shared: NDArray[np.int64], size_first: NDArray[np.int64], size_second: NDArray[np.int64]
) -> NDArray[np.float64]:
    # One division of whole numbers, rounded once, so that 4/5 is the 0.8 that a user writes.
    found: NDArray[np.float64] = shared / np.maximum(size_first + size_second - shared, 1)
    return found


def _scored(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    shared: NDArray[np.int64],
    size_first: NDArray[np.int64],
    size_second: NDArray[np.int64],
    threshold: float,
) -> Scored:
    similarity = _similarity(shared, size_first, size_second)
    kept = np.flatnonzero(similarity >= threshold)
    return Scored(
        first[kept],
        second[kept],
        similarity[kept],
        shared[kept] / np.maximum(size_first[kept], 1),
        shared[kept] / np.maximum(size_second[kept], 1),
    )


def estimate(
    signatures: NDArray[np.uint32],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Score each pair by the share of equal rows, and keep those at or above the threshold."""
    counts = np.empty(len(first), np.int64)

    def count(piece: slice) -> None:
        kernels.agreeing(signatures, first[piece], second[piece], counts[piece])

    for _ in in_order(count, pieces(np.ones(len(first), np.int64), PIECE_PAIRS), threads):
        pass
    return known_scores(first, second, counts / signatures.shape[1], threshold, below)


def known_scores(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    similarity: NDArray[np.float64],
    threshold: float,
    below: Below | None = None,
) -> Scored:
    """Keep the pairs at or above the threshold, of which no containment is known."""
    high = similarity >= threshold
    if below is not None:
        below.offer(first[~high], second[~high], similarity[~high])
    unknown = np.full(int(np.count_nonzero(high)), np.nan)
    return Scored(first[high], second[high], similarity[high], unknown, unknown)
