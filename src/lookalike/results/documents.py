"""The documents of a result: their ids, which are identical, and their order by id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import OutputError, SourceError
from lookalike.base.wording import quoted
from lookalike.results.ids import Ids, JoinedIds
from lookalike.results.pairs import SORTED, Sorter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.candidates.identical import Groups
    from lookalike.candidates.pairing import Cells
    from lookalike.results.origin import Origin
    from lookalike.results.pairs import Links

__all__ = [
    "ByRank",
    "Documents",
    "Storage",
    "first_members",
    "names_of",
    "numbered",
    "paired",
    "refuse_too_many",
]

MAX_PAIRS = 30_000_000
"""Pairs that are laid out in memory, at some 100 bytes each."""
BLOCK_IDS = 1 << 18
"""Ids that are looked through at a time."""
RUN_SHARE = 8
"""Of the memory allowed, one part in so many holds a run of pairs that is sorted at once."""


_NONE = np.empty(0, np.int64)


class ByRank(NamedTuple):
    """Documents in the order of their ids."""

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    """The place of each document of the corpus among them, -1 for one that is not."""


class Storage(Protocol):
    """Where the columns of a result are."""

    def scratch(self, name: str, dtype: Any) -> Column:
        """Make an empty column, on disk."""

    def close(self) -> None:
        """Let go of all columns."""


@dataclass(frozen=True)
class Documents:
    """The documents of a result, and how much memory there is to put them in order."""

    ids: Ids = field(repr=False)
    groups: Groups = field(repr=False)
    """The identical ones."""
    memory: int
    storage: Storage = field(repr=False)
    origin: Origin = field(repr=False)
    """Where they came from."""
    cells: Cells | None = field(default=None, repr=False)
    """Which of them may be a pair, where not all may."""
    seen: Ids | None = field(default=None, repr=False)
    """Documents of an index, which are no documents of the result, but are named in it."""

    @property
    def named(self) -> Ids:
        """The ids of all that may be named; those of an index come after all others."""
        return self.ids if self.seen is None else JoinedIds(self.ids, self.seen)

    def corpora(self, rows: NDArray[np.int64]) -> pa.Array:
        """Name where each document stands: in the source, the reference, or an index."""
        known = self.origin.corpora(rows)
        if self.seen is None:
            return known
        return pc.if_else(pa.array(rows >= len(self)), "index", known)

    @property
    def joined(self) -> Groups:
        """Those that are in a pair with the same others: identical ones, or the cells of them."""
        return self.groups if self.cells is None else self.cells.documents

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.ids)

    def rows_of(self, ids: Iterable[Any]) -> NDArray[np.int64]:
        """Find documents of the corpus by their ids; a reference is not looked at."""
        names = list(ids)
        wanted = pa.array(names, self.ids.take(_NONE).type)
        rows = np.full(len(wanted), -1, np.int64)
        for start in range(self.origin.before, len(self), BLOCK_IDS):
            block = self.ids.take(np.arange(start, min(start + BLOCK_IDS, len(self))))
            places = pc.fill_null(pc.index_in(wanted, value_set=block), -1).to_numpy()
            rows = np.where(places >= 0, start + places, rows)
        if (rows < 0).any():
            missing = names[int(np.flatnonzero(rows < 0)[0])]
            raise SourceError(
                f"there is no document {quoted(missing)}: give ids that the result has"
            )
        return rows

    def by_id(self, groups: NDArray[np.bool_]) -> ByRank:
        """Sort the documents of some groups by their ids."""
        of_document = self.groups.of_document
        rows = np.flatnonzero(groups[of_document] & (of_document >= 0)) if len(groups) else _NONE
        places = self.ids.ranks(rows)
        by_rank = np.empty(len(rows), np.int64)
        by_rank[places] = rows
        ranks = np.full(len(of_document), -1, np.int64)
        ranks[rows] = places
        return ByRank(by_rank, ranks)

    def in_order(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sort documents by their ids."""
        by_id = np.empty_like(rows)
        by_id[self.named.ranks(rows)] = rows
        return by_id

    def empty(self) -> pa.Array:
        """Give the ids of the empty documents, in order."""
        rows = np.flatnonzero(self.groups.of_document < 0)
        return self.ids.take(self.in_order(rows))

    def sorter(self, name: str) -> Sorter:
        """Give a sorter of pairs that stays within the memory."""
        run_pairs = max(1 << 16, self.memory // RUN_SHARE // (3 * SORTED.itemsize))
        return Sorter(lambda: self.storage.scratch(name, SORTED), run_pairs)


def refuse_too_many(pairs: int, instead: str) -> None:
    """Refuse to lay out more pairs than fit in memory."""
    if pairs > MAX_PAIRS:
        raise OutputError(f"{pairs:,} similar pairs do not fit in memory: {instead}")


def numbered(
    labels: NDArray[np.int64], by_id: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the clusters of two or more from 1: the largest first, then by their first ids.

    `by_id` are the members of clusters in the order of their ids; a label below 0 is no cluster.
    The result is the documents in order, cluster by cluster and by id within, and the number and
    the size of each one's cluster.
    """
    rows = by_id[labels[by_id] >= 0]
    of_row = labels[rows]
    sizes = np.bincount(of_row, minlength=int(labels.max(initial=-1)) + 1)
    large = sizes[of_row] > 1
    rows, of_row = rows[large], of_row[large]
    first_places = np.empty(len(sizes), np.int64)
    first_places[of_row[::-1]] = np.arange(len(rows))[::-1]
    found = np.flatnonzero(sizes > 1)
    numbers = np.empty(len(sizes), np.int64)
    numbers[found[np.lexsort((first_places[found], -sizes[found]))]] = np.arange(1, len(found) + 1)
    order = np.argsort(numbers[of_row], kind="stable")
    rows, of_row = rows[order], of_row[order]
    return rows, numbers[of_row], sizes[of_row]


def first_members(
    groups: Groups, by_id: ByRank, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give at most so many members of each group, the first by id, and where each group begins.

    In the order of ids, the first pairs of a group are of its first members.
    """
    sizes = groups.sizes
    group = np.repeat(np.arange(len(sizes)), sizes)
    by_rank = np.lexsort((by_id.ranks[groups.members], group))
    place = np.arange(len(group)) - np.repeat(groups.starts[:-1], sizes)
    members = groups.members[by_rank][place < most]
    return members, np.append(0, np.cumsum(np.minimum(sizes, most)))


def paired(links: Links, groups: Groups) -> NDArray[np.bool_]:
    """Tell which groups are in a pair, with another or by having two members."""
    found = groups.sizes > 1
    for block in links.blocks():
        found[block.first] = True
        found[block.second] = True
    return found


def names_of(records: NDArray[np.void], by_id: ByRank, ids: Ids) -> dict[str, pa.Array]:
    """Give the ids of sorted pairs."""
    first = (records["ranks"] >> np.uint64(32)).astype(np.int64)
    second = (records["ranks"] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return {"a": ids.take(by_id.rows[first]), "b": ids.take(by_id.rows[second])}
