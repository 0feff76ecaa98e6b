"""Candidates whose sketches are near, a band at a time.

A bit tells little, so that bands of bits bring millions of pairs together by chance, and short
bands of minhashes are cheap to make. All pairs of a bucket are therefore told apart at once by some
bits of their sketches, which stand side by side when the documents are in the order of their keys.
What is left is nearly always similar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import in_order
from lookalike.kernels import near_bands as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["NearBand", "NearPairs", "near_bands"]

BLOCK_PAIRS = 1 << 16
"""Pairs that one bucket search writes at a time."""
BYTES_PER_DOCUMENT = 80
"""Bytes for each document while one band is searched."""


@dataclass(frozen=True)
class NearBand:
    """The pairs that one band brings together and whose sketches are near, each once."""

    pairs: NDArray[np.uint64]
    """The first document of each in the upper half of a word, the second in the lower."""
    dismissed: int
    """Pairs in the buckets of the band whose sketches are not near."""
    complete: bool
    """Whether these are all: a band of too many is given up."""


def near_bands(
    band: Callable[[int], NDArray[np.uint64]],
    bands: int,
    bits: int,
    sketches: NDArray[np.uint32],
    *,
    empty: NDArray[np.bool_],
    max_differing: int,
    max_pairs: int,
    max_bucket_pairs: int,
    threads: int = 1,
) -> Iterator[NearBand]:
    """Give, band by band, the pairs that differ in at most so many bits of `sketches`.

    `band` gives the keys of all documents in one band, of which the lowest `bits` tell. A band is
    given up that has more than `max_pairs` near pairs, or `max_bucket_pairs` in its buckets.
    """
    wide = np.ascontiguousarray(sketches).view(np.uint64)
    key_mask = np.uint64((1 << min(bits, 64)) - 1)

    def search(number: int) -> NearBand:
        keys = band(number)
        keys &= key_mask
        order, ordered = _sharing(keys, min(bits, 64), empty)
        del keys  # with millions of documents, every column counts
        if _pairs(ordered) > max_bucket_pairs:
            return NearBand(np.empty(0, np.uint64), 0, complete=False)
        count = len(order)
        near = np.empty((count, wide.shape[1]), np.uint64)
        kernels.gather(wide, order, near)
        state = np.array([0, 1, 0])
        found = [np.empty(0, np.uint64)]
        total = 0
        while state[0] < count and total <= max_pairs:
            block = np.empty(BLOCK_PAIRS, np.uint64)
            written = kernels.near_in_buckets(
                ordered, order, empty, near, max_differing, state, block
            )
            found.append(block[:written])
            total += written
        return NearBand(np.concatenate(found), int(state[2]) - total, complete=total <= max_pairs)

    return in_order(search, range(bands), threads)


class NearPairs:
    """The near pairs of all bands, each once, in order, up to so many."""

    def __init__(self, max_pairs: int) -> None:
        """Begin with none."""
        self.max_pairs = max_pairs
        self.dismissed = 0
        """Times that two documents met in a bucket whose sketches are not near."""
        self._known = np.empty(0, np.uint64)
        self._pending: list[NDArray[np.uint64]] = []

    def add(self, band: NearBand) -> bool:
        """Add the pairs of a band; tell whether there is room for all so far."""
        self._pending.append(band.pairs)
        self.dismissed += band.dismissed
        # Near pairs meet in many bands: they are put together before they are too many.
        if sum(map(len, self._pending)) > max(BLOCK_PAIRS, len(self._known)):
            self._merge()
        return band.complete and len(self._known) <= self.max_pairs

    def __len__(self) -> int:
        """Count the pairs."""
        self._merge()
        return len(self._known)

    def part(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the first documents and the second ones of some pairs."""
        self._merge()
        some = self._known[start:stop]
        first = (some >> np.uint64(32)).astype(np.int64)
        return first, (some & np.uint64(0xFFFFFFFF)).astype(np.int64)

    def _merge(self) -> None:
        if self._pending:
            joined = np.concatenate([self._known, *self._pending])
            self._pending.clear()
            self._known = _distinct(joined)


def _sharing(
    keys: NDArray[np.uint64], bits: int, empty: NDArray[np.bool_]
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Give the documents that may share a key, sorted by the lowest bits of it, and those keys."""
    order = np.empty(len(keys), np.uint32)
    # Most documents are alone in their bucket: those are left out before any sorting.
    marks = np.zeros((2, kernels.mark_words(len(keys))), np.uint64)
    order = order[: kernels.may_share_key(keys, empty, marks, order)].copy()
    del marks
    ordered, scratch = np.empty(len(order), np.uint64), np.empty(len(order), np.uint64)
    kernels.order_by_key(keys, bits, order, ordered, np.empty_like(order), scratch)
    return order, ordered


def _distinct(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort values, each once; NumPy's own way, by a table of hashes, takes many times as long."""
    values.sort()
    new = np.ones(len(values), np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values[new]


def _pairs(ordered: NDArray[np.uint64]) -> int:
    """Count the pairs of equal keys."""
    if not len(ordered):
        return 0
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    sizes = np.diff(ends, prepend=-1)
    return int((sizes * (sizes - 1) // 2).sum())
