"""In how many documents a shingle stands.

Documents come in pieces, as often as they are asked for. Counts are made in two passes: first in
two tables of slots that many shingles share, then exactly, for the shingles alone of which both
slots have enough. The counts are exact, and the same whatever the pieces and the threads.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.threads import in_order, pieces
from lookalike.kernels import document_frequencies as kernels
from lookalike.text.shingles import PIECE_BYTES, Sets, Shingling, shingle_hashes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical

    Parts = Callable[[], Iterator[Canonical]]

__all__ = [
    "DocumentCounts",
    "HashIndex",
    "Workspace",
    "each_piece",
    "exact_counts",
    "frequent",
    "shared_by_two",
    "slot_counts",
]

R = TypeVar("R")

MAX_THREADS = 8
MAX_SLOTS = 1 << 25
"""Slots in all, 256 MB; each thread that counts has tables of its own."""
MAX_KEYS = 1 << 22
"""Slots of the table of exact counts; shingles that do not fit are counted in a further pass."""
MAX_SLOT_BITS = 22
LAST_KEY = np.uint64((1 << 64) - 1)


def frequent(
    parts: Parts, shingling: Shingling, *, share: float, documents: int, threads: int = 1
) -> NDArray[np.uint64]:
    """Give the shingles that stand in more than a share of so many documents, sorted.

    Shingles already ignored are not counted. How often one stands in a document does not matter.
    """
    if not 0 < share <= 1:
        raise SettingsError(
            f"a share of {share} of the documents: use a number above 0 and up to 1, as 0.1"
        )
    # 0.29 * 100 is less than 29: the share is taken as it is written.
    limit = math.floor(Fraction(str(share)) * documents)
    slots = slot_counts(parts, shingling, _bits(parts, share), threads)
    return exact_counts(parts, shingling, slots > limit, limit, threads)[0]


def shared_by_two(
    parts: Parts, shingling: Shingling, *, threads: int = 1
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Give the shingles that stand in two documents or more, sorted, and in how many each does."""
    slots = slot_counts(parts, shingling, MAX_SLOT_BITS, threads)
    return exact_counts(parts, shingling, slots > 1, 1, threads)


def _bits(parts: Parts, share: float) -> int:
    """Choose slots so many that what meets in one by chance is a quarter of the share, about."""
    first = next(iter(parts()), None)
    if first is None or not len(first):
        return 16
    mean = int(first.offsets[-1]) / len(first)
    return min(max(math.ceil(math.log2(4 * mean / share + 1)), 16), MAX_SLOT_BITS)


class Workspace:
    """What one thread works with, and uses again for the next piece."""

    def __init__(self, bits: int | None) -> None:
        """Make tables of so many slots, as a power of two, or none."""
        self.buffer = np.empty(PIECE_BYTES + 1, np.uint64)
        self.slots = np.zeros((2, 1 << bits if bits else 0), np.uint64)
        self.counted = 0

    def hashes(self, documents: Canonical, shingling: Shingling, rows: NDArray[np.int64]) -> Sets:
        """Give the shingles of some documents, good until the next piece."""
        needed = int(documents.lengths(rows).sum()) + 1
        if needed > len(self.buffer):
            self.buffer = np.empty(needed, np.uint64)
        return shingle_hashes_in(self.buffer, documents, shingling, rows)


def each_piece(
    parts: Parts,
    shingling: Shingling,
    work: Callable[[Workspace, Sets, NDArray[np.uint64]], R],
    threads: int,
    workspaces: list[Workspace] | None = None,
) -> Iterator[R]:
    """Give what becomes of each piece's shingles and fingerprints, in the order of the pieces."""
    threads = min(threads, MAX_THREADS)
    free = (
        [Workspace(None) for _ in range(max(threads, 1))] if workspaces is None else workspaces[:]
    )

    def cut() -> Iterator[tuple[Canonical, NDArray[np.int64]]]:
        for part in parts():
            rows = np.arange(len(part), dtype=np.int64)
            for piece in pieces(part.lengths(rows), PIECE_BYTES):
                yield part, rows[piece]

    def run(item: tuple[Canonical, NDArray[np.int64]]) -> R:
        documents, rows = item
        workspace = free.pop()
        try:
            return work(
                workspace,
                workspace.hashes(documents, shingling, rows),
                documents.fingerprints[rows],
            )
        finally:
            free.append(workspace)

    return in_order(run, cut(), threads)


def slot_counts(parts: Parts, shingling: Shingling, bits: int, threads: int) -> NDArray[np.uint64]:
    """Give for each slot of two tables the number of documents with a shingle there."""
    threads = max(min(threads, MAX_THREADS, MAX_SLOTS >> (bits + 1)), 1)
    workspaces = [Workspace(bits) for _ in range(threads)]

    def count(workspace: Workspace, found: Sets, _: NDArray[np.uint64]) -> None:
        kernels.count_slots(found.elements, found.offsets, workspace.counted, workspace.slots)
        workspace.counted += len(found)

    for _ in each_piece(parts, shingling, count, threads, workspaces):
        pass
    for workspace in workspaces:
        workspace.slots &= np.uint64(0xFFFFFFFF)
    for workspace in workspaces[1:]:
        workspaces[0].slots += workspace.slots
    return workspaces[0].slots


class DocumentCounts:
    """In how many documents each of many keys stands, from a lowest key on."""

    def __init__(self, max_slots: int, lowest: int = 0) -> None:
        """Count in at most so many slots."""
        self.max_slots = max_slots
        self.lowest = lowest
        self.highest = LAST_KEY
        """The last key that is counted: lower where there was no room for all."""
        self.keys = np.zeros(min(max_slots, 1 << 10), np.uint64)
        self.counts = np.zeros_like(self.keys)
        self.filled = 0
        self.documents = 0

    def add(self, values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> None:
        """Count the documents of a piece, each with its values."""
        done, last = 0, len(offsets) - 1
        while True:
            done, self.filled = kernels.count_documents(
                *(values, offsets, done, self.documents, self.highest),
                *(self.keys, self.counts, self.filled),
            )
            if done == last:
                break
            self._grow(int(offsets[done + 1] - offsets[done]))
        self.documents += last

    def _grow(self, needed: int) -> None:
        size = len(self.keys)
        if size < self.max_slots or self.filled <= needed:
            size *= 2
        else:
            self.highest = np.uint64((self.lowest + int(self.highest)) // 2)
        keys, counts = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
        self.filled = kernels.rehash(self.keys, self.counts, self.highest, keys, counts)
        self.keys, self.counts = keys, counts

    def above(self, limit: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Give the keys of more documents than that, sorted, and the documents of each."""
        counts = (self.counts & np.uint64(0xFFFFFFFF)).astype(np.int64)
        chosen = np.flatnonzero((counts > limit) & (self.counts != 0))
        chosen = chosen[np.argsort(self.keys[chosen])]
        return self.keys[chosen], counts[chosen]


def exact_counts(
    parts: Parts, shingling: Shingling, passing: NDArray[np.bool_], limit: int, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Give the shingles in more documents than the limit, sorted, and the documents of each."""
    lowest = 0
    passes = []

    def keep(_workspace: Workspace, found: Sets, _: NDArray[np.uint64]) -> Sets:
        kernels.keep_passing(found.elements, found.offsets, passing, np.uint64(lowest))
        return Sets(found.elements[: found.offsets[-1]].copy(), found.offsets)

    while True:
        table = DocumentCounts(MAX_KEYS, lowest)
        for kept in each_piece(parts, shingling, keep, threads):
            table.add(kept.elements, kept.offsets)
        passes.append(table.above(limit))
        if table.highest == LAST_KEY:
            break
        lowest = int(table.highest) + 1
    hashes, counts = zip(*passes, strict=True)
    return np.concatenate(hashes), np.concatenate(counts)


class HashIndex:
    """The places of hashes among some that are known, each once."""

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        """Enter them, in their order."""
        self.keys = np.zeros(2 << len(hashes).bit_length(), np.uint64)
        self.numbers = np.zeros_like(self.keys)
        kernels.insert_hashes(hashes, self.keys, self.numbers)

    def hashes(self) -> NDArray[np.uint64]:
        """Give those that were entered, in their order."""
        entered = np.flatnonzero(self.numbers)
        return self.keys[entered[np.argsort(self.numbers[entered])]]

    def places(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Give the place of each, or -1."""
        found = np.empty(len(hashes), np.int64)
        kernels.find_hashes(hashes, self.keys, self.numbers, found)
        return found
