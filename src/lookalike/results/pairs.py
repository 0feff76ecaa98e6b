"""Similar pairs: kept as pairs of groups, laid out as pairs of documents, sorted on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.candidates.identical import blocks_between, blocks_within
from lookalike.score.jaccard import Scored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.candidates.identical import Groups
    from lookalike.candidates.pairing import Cells

__all__ = [
    "LINK",
    "SORTED",
    "Best",
    "Block",
    "Links",
    "Sorter",
    "cell_links",
    "laid_out",
    "laid_out_cells",
]

LINK = np.dtype(
    [
        ("first", "<u4"),
        ("second", "<u4"),
        ("similarity", "<f8"),
        ("first_in_second", "<f8"),
        ("second_in_first", "<f8"),
    ]
)
SORTED = np.dtype([("score", "<u8"), ("ranks", "<u8"), ("forward", "<f8"), ("backward", "<f8")])
"""A pair as it is sorted: by a score whose order is turned round, then by the ranks of both ids."""
BLOCK_PAIRS = 1 << 20
"""Pairs that are worked on at a time."""


class Links:
    """Pairs of groups of identical documents, with what they share, in the order they came."""

    def __init__(self, column: Column) -> None:
        """Begin, or go on with those that the column holds."""
        self._column = column

    def __len__(self) -> int:
        """Count the pairs of groups."""
        return len(self._column)

    def append(self, scored: Scored) -> None:
        """Add pairs."""
        records = np.empty(len(scored), LINK)
        for name in LINK.names or ():
            records[name] = getattr(scored, name)
        self._column.append(records)

    def blocks(self, size: int = BLOCK_PAIRS) -> Iterator[Scored]:
        """Give the pairs in blocks."""
        for start in range(0, len(self), size):
            yield _scored(self._column.read(start, min(start + size, len(self))))

    def between(self, sizes: NDArray[np.int64]) -> int:
        """Count the pairs of documents, of groups of these sizes, that they stand for."""
        return sum(int((sizes[one.first] * sizes[one.second]).sum()) for one in self.blocks())

    def all(self) -> Scored:
        """Give all pairs at once."""
        return Scored.joined(list(self.blocks()))


def _scored(records: NDArray[np.void]) -> Scored:
    return Scored(
        records["first"].astype(np.int64),
        records["second"].astype(np.int64),
        records["similarity"].copy(),
        records["first_in_second"].copy(),
        records["second_in_first"].copy(),
    )


class Block(NamedTuple):
    """Pairs of documents."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    forward: NDArray[np.float64]
    """The share of the first one's shingles that the second has."""
    backward: NDArray[np.float64]
    same: bool
    """Whether they are identical, so that nothing about them is an estimate."""


def laid_out(
    links: Links,
    groups: Groups,
    *,
    members: NDArray[np.int64] | None = None,
    starts: NDArray[np.int64] | None = None,
    max_pairs: int = BLOCK_PAIRS,
) -> Iterator[Block]:
    """Give the pairs of documents that pairs of groups and the groups themselves stand for.

    `members` and `starts` may name some members of each group instead of all.
    """
    members = groups.members if members is None else members
    starts = groups.starts if starts is None else starts
    for scored in links.blocks():
        yield from _between(scored, members, starts, max_pairs, same=False)
    for which, i, j in blocks_within(np.diff(starts), max_pairs):
        begin = starts[which]
        ones = np.ones(len(which))
        yield Block(members[begin + i], members[begin + j], ones, ones, ones, same=True)


def cell_links(
    links: Links, cells: Cells, max_pairs: int = BLOCK_PAIRS
) -> Iterator[tuple[Scored, bool]]:
    """Give the pairs of cells that pairs of texts and the texts themselves stand for, in blocks.

    With each block comes whether its cells are identical.
    """
    for scored in links.blocks():
        for which, first, second in cells.between(scored.first, scored.second, max_pairs):
            shares = scored.first_in_second[which], scored.second_in_first[which]
            yield Scored(first, second, scored.similarity[which], *shares), False
    for first, second in cells.within(max_pairs):
        ones = np.ones(len(first))
        yield Scored(first, second, ones, ones, ones), True


def laid_out_cells(
    links: Links,
    cells: Cells,
    *,
    members: NDArray[np.int64] | None = None,
    starts: NDArray[np.int64] | None = None,
    max_pairs: int = BLOCK_PAIRS,
) -> Iterator[Block]:
    """Give the pairs of documents that may be one, of pairs of texts and of the texts themselves.

    `members` and `starts` may name some members of each cell instead of all.
    """
    members = cells.documents.members if members is None else members
    starts = cells.documents.starts if starts is None else starts
    for scored, same in cell_links(links, cells, max_pairs):
        yield from _between(scored, members, starts, max_pairs, same=same)


def _between(
    scored: Scored,
    members: NDArray[np.int64],
    starts: NDArray[np.int64],
    max_pairs: int,
    *,
    same: bool,
) -> Iterator[Block]:
    """Lay out pairs of groups as pairs of their members."""
    sizes = np.diff(starts)
    left, right = scored.first, scored.second
    for which, i, j in blocks_between(sizes[left], sizes[right], max_pairs):
        yield Block(
            members[starts[left[which]] + i],
            members[starts[right[which]] + j],
            scored.similarity[which],
            scored.first_in_second[which],
            scored.second_in_first[which],
            same=same,
        )


def _records(
    score: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    forward: NDArray[np.float64],
    backward: NDArray[np.float64],
) -> NDArray[np.void]:
    """Lay out pairs as they are sorted; scores are from 0 to 1."""
    records = np.empty(len(score), SORTED)
    # The bits of numbers that are not negative sort as the numbers do.
    records["score"] = ~np.ascontiguousarray(score, np.float64).view(np.uint64)
    records["ranks"] = (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)
    records["forward"], records["backward"] = forward, backward
    return records


class Best:
    """The first few of scored pairs of ranks that come in any order."""

    def __init__(self, count: int) -> None:
        """Keep so many."""
        self._limit = count
        self.records = np.empty(0, SORTED)

    def append(
        self,
        score: NDArray[np.float64],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        forward: NDArray[np.float64],
        backward: NDArray[np.float64],
    ) -> None:
        """Add pairs, of which those that are among the first stay."""
        fresh = _records(score, first, second, forward, backward)
        self.records = _in_order(np.concatenate([self.records, fresh]))[: self._limit]


class Sorter:
    """Scored pairs of ranks, sorted by score downwards, then by the ranks, in bounded memory.

    Runs of `run_pairs` pairs are sorted one by one and kept in a column; then they are merged.
    """

    def __init__(self, column: Callable[[], Column], run_pairs: int) -> None:
        """Sort in runs of so many pairs; a second run makes a column for them."""
        self._make = column
        self._column: Column | None = None
        self._run_pairs = max(run_pairs, 1)
        self._pending: list[NDArray[np.void]] = []
        self._count = 0
        self._runs: list[tuple[int, int]] = []

    def append(
        self,
        score: NDArray[np.float64],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        forward: NDArray[np.float64],
        backward: NDArray[np.float64],
    ) -> None:
        """Add pairs; scores are from 0 to 1."""
        self._pending.append(_records(score, first, second, forward, backward))
        self._count += len(score)
        if self._count >= self._run_pairs:
            self._write_run()

    def _write_run(self) -> None:
        run = _in_order(np.concatenate(self._pending))
        if self._column is None:
            self._column = self._make()
        start = len(self._column)
        self._column.append(run)
        self._runs.append((start, start + len(run)))
        self._pending, self._count = [], 0

    def blocks(self) -> Iterator[NDArray[np.void]]:
        """Give all pairs in order, in blocks of records."""
        if not self._runs:
            if self._count:
                whole = _in_order(np.concatenate(self._pending))
                for start in range(0, len(whole), BLOCK_PAIRS):
                    yield whole[start : start + BLOCK_PAIRS]
            return
        if self._count:
            self._write_run()
        yield from self._merged()

    def _merged(self) -> Iterator[NDArray[np.void]]:
        column = self._column
        if column is None:
            return
        head_pairs = max(1, min(self._run_pairs, BLOCK_PAIRS) // len(self._runs))
        places = [start for start, _ in self._runs]
        heads = [np.empty(0, SORTED) for _ in self._runs]
        while True:
            for run, (_, end) in enumerate(self._runs):
                if not len(heads[run]) and places[run] < end:
                    stop = min(places[run] + head_pairs, end)
                    heads[run] = column.read(places[run], stop)
                    places[run] = stop
            # Up to the earliest end of what was read, nothing can come in between any more.
            tails = [
                (head["score"][-1], head["ranks"][-1])
                for head, place, (_, end) in zip(heads, places, self._runs, strict=True)
                if len(head) and place < end
            ]
            taken = []
            for run, head in enumerate(heads):
                cut = _up_to(head, min(tails)) if tails else len(head)
                taken.append(head[:cut])
                heads[run] = head[cut:]
            block = np.concatenate(taken)
            if not len(block):
                return
            yield _in_order(block)


def _in_order(records: NDArray[np.void]) -> NDArray[np.void]:
    found: NDArray[np.void] = records[np.lexsort((records["ranks"], records["score"]))]
    return found


def _up_to(head: NDArray[np.void], last: tuple[np.uint64, np.uint64]) -> int:
    """Count the records that sort no later than the last one."""
    score, ranks = last
    begin = int(np.searchsorted(head["score"], score, side="left"))
    end = int(np.searchsorted(head["score"], score, side="right"))
    return begin + int(np.searchsorted(head["ranks"][begin:end], ranks, side="right"))
