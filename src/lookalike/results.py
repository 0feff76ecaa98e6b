"""What a job found, as tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike import cluster
from lookalike.errors import OutputError
from lookalike.pairs import SORTED, Sorter, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from lookalike.groups import Groups
    from lookalike.ids import Ids
    from lookalike.pairs import Links
    from lookalike.planning import Plan
    from lookalike.settings import Settings
    from lookalike.shingle import Shingling
    from lookalike.store import Column
    from lookalike.texts import Texts

__all__ = ["ContainmentResult", "DedupResult", "FindResult", "Summary"]

MOST_PAIRS = 30_000_000
"""Pairs that are laid out in memory, at some 100 bytes each."""
RUN_SHARE = 8
"""Of the memory allowed, one part in so many holds a run of pairs that is sorted at once."""
GIANT = 100
"""Documents from which a cluster counts as a giant, if it holds one in a hundred of all too."""


@dataclass(frozen=True)
class Summary:
    """What was read, found and passed over."""

    documents: int
    empty: int
    identical: int
    """Documents whose canonical text was read before."""
    candidates: int
    rejected: int
    """Candidates that the exact check found to be below the threshold."""
    skipped: Mapping[str, int]
    """Files passed over, by reason."""
    warnings: tuple[str, ...]
    """What a user should know before trusting the result."""
    seconds: Mapping[str, float]
    bad: tuple[str, ...] = ()
    """The first records and files that could not be read and were passed over, as asked."""
    bad_count: int = 0
    notes: tuple[str, ...] = ()
    """What the reader chose by itself."""


_NONE = np.empty(0, np.int64)


class ByRank(NamedTuple):
    """Documents in the order of their ids."""

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    """The place of each document of the corpus among them, -1 for one that is not."""


@dataclass(frozen=True)
class Ground:
    """What a result stands on: the documents, where they are, and how much memory there is."""

    ids: Ids = field(repr=False)
    texts: Texts = field(repr=False)
    groups: Groups = field(repr=False)
    shingling: Shingling
    memory: int
    spare: Callable[[str, Any], Column] = field(repr=False)
    """Makes a column by name and type, on disk where the job works there."""

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

    def empty(self) -> pa.Array:
        """Give the ids of the empty documents, in order."""
        rows = np.flatnonzero(self.groups.of_document < 0)
        return self.ids.take(rows[np.argsort(self.ids.ranks(rows))])

    def sorter(self, name: str) -> Sorter:
        """Give a sorter of pairs that stays within the memory."""
        most = max(1 << 16, self.memory // RUN_SHARE // (3 * SORTED.itemsize))
        return Sorter(lambda: self.spare(name, SORTED), most)


@dataclass(frozen=True)
class FindResult:
    """Similar pairs and clusters, with the plan and the settings that found them."""

    plan: Plan
    settings: Settings
    summary: Summary
    ground: Ground = field(repr=False)
    links: Links = field(repr=False)
    """Pairs of groups of identical documents."""
    signatures: Callable[[NDArray[np.int64]], NDArray[np.uint32]] | None = field(repr=False)
    """Gives those of some groups, where scores are estimated."""

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def pair_count(self) -> int:
        """The number of similar pairs."""
        sizes = self.ground.groups.sizes
        between = sum(
            int((sizes[block.first] * sizes[block.second]).sum()) for block in self.links.blocks()
        )
        return between + int((sizes * (sizes - 1) // 2).sum())

    @cached_property
    def _by_id(self) -> ByRank:
        """Those that are in a pair; the ids of others are not needed."""
        return self.ground.by_id(paired(self.links, self.ground.groups))

    @cached_property
    def pairs(self) -> pa.Table:
        """Every pair once: a, b, similarity, score; the most similar first, then by ids."""
        self._refuse_too_many()
        return self._whole(self.pair_blocks())

    @cached_property
    def containments(self) -> pa.Table:
        """The pairs again: which share of a's shingles b has, and which share of b's a has."""
        self._refuse_too_many()
        blocks = (
            pa.table(
                {
                    **self._names(records),
                    "a_in_b": pa.array(records["forward"].copy(), from_pandas=True),
                    "b_in_a": pa.array(records["backward"].copy(), from_pandas=True),
                },
                metadata=self.metadata,
            )
            for records in self._sorted()
        )
        return self._whole(blocks)

    def _refuse_too_many(self) -> None:
        if self.pair_count > MOST_PAIRS:
            raise OutputError(
                f"{self.pair_count:,} similar pairs do not fit in memory: ask for the clusters, "
                "drop duplicates with dedup, or raise the threshold"
            )

    def _whole(self, blocks: Iterator[pa.Table]) -> pa.Table:
        return pa.concat_tables([*blocks]).combine_chunks()

    def pair_blocks(self) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first may be empty."""
        for records in self._sorted():
            yield self._table(records)

    def _sorted(self) -> Iterator[NDArray[np.void]]:
        sorter = self.ground.sorter("pairs.sorted")
        self._fill(sorter)
        yield np.empty(0, SORTED)
        yield from sorter.blocks()

    def _fill(
        self,
        sorter: Sorter,
        members: NDArray[np.int64] | None = None,
        starts: NDArray[np.int64] | None = None,
    ) -> None:
        ranks = self._by_id.ranks
        blocks = laid_out(self.links, self.ground.groups, members=members, starts=starts)
        for block in blocks:
            first, second = ranks[block.first], ranks[block.second]
            swapped = first > second
            sorter.append(
                block.similarity,
                np.where(swapped, second, first),
                np.where(swapped, first, second),
                # A containment of identical documents is known even where others are estimated.
                np.where(swapped, block.backward, block.forward),
                np.where(swapped, block.forward, block.backward),
            )

    def _names(self, records: NDArray[np.void]) -> dict[str, pa.Array]:
        return names_of(records, self._by_id, self.ground.ids)

    def _table(self, records: NDArray[np.void]) -> pa.Table:
        labels = pa.array(["exact", "estimated"])
        # Only identical documents have a containment where others are estimated.
        estimated = np.isnan(records["forward"])
        return pa.table(
            {
                **self._names(records),
                "similarity": pa.array((~records["score"]).view(np.float64)),
                "score": labels.take(pa.array(estimated.astype(np.int8))),
            },
            metadata=self.metadata,
        )

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`, without laying out all of them."""
        members, starts = first_members(self.ground.groups, self._by_id, most + 1)
        best = _Best(most)
        self._fill(best, members, starts)
        return self._table(best.records)

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are similar to nothing, in order."""
        return self.ground.empty()

    @cached_property
    def clusters(self) -> pa.Table:
        """The members of each cluster of two or more: id, cluster, size, similarity.

        Clusters are connected components, numbered from 1, the largest first. The similarity is
        the smallest between any two members (of at most 200, see `cluster.smallest_similarities`).
        """
        groups = self.ground.groups
        forest = cluster.Forest(len(groups))
        for block in self.links.blocks():
            forest.unite(block.first, block.second)
        labels = forest.labels()
        smallest = cluster.smallest_similarities(
            labels,
            self.links.blocks(),
            self.ground.texts,
            groups.representatives,
            self.ground.shingling,
            self.signatures,
        )
        filled = groups.of_document >= 0
        of_document = np.full(len(groups.of_document), -1)
        of_document[filled] = labels[groups.of_document[filled]]
        rows, numbers, sizes = numbered(of_document, self.ground.ids)
        return pa.table(
            {
                "id": self.ground.ids.take(rows),
                "cluster": pa.array(numbers),
                "size": pa.array(sizes),
                "similarity": pa.array(smallest[of_document[rows]]),
            },
            metadata=self.metadata,
        )

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the clusters: giants that hang together by chains."""
        if not len(self.clusters):
            return ()
        first = self.clusters.slice(0, 1).to_pylist()[0]
        size, least = first["size"], first["similarity"]
        giant = size >= max(GIANT, self.summary.documents // 100)
        if not giant or least >= self.settings.threshold:
            return ()
        message = (
            f"the largest cluster has {size:,} documents, of which two are only {least:.2f} alike: "
            "chains hold it together; dedup compares each with the one it keeps, or raise the "
            "threshold"
        )
        return (message,)


class _Best(Sorter):
    """The first few of pairs that come in any order."""

    def __init__(self, most: int) -> None:
        """Keep so many."""
        super().__init__(lambda: None, 1)  # type: ignore[arg-type, return-value]
        self._few = most
        self.records = np.empty(0, SORTED)

    def _write_run(self) -> None:
        records = np.concatenate([self.records, *self._waiting])
        order = np.lexsort((records["ranks"], records["score"]))
        self.records = records[order[: self._few]]
        self._waiting, self._count = [], 0


def numbered(
    labels: NDArray[np.int64], ids: Ids
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the clusters of two or more from 1: the largest first, then by their first ids.

    The result is the documents in order, cluster by cluster and by id within, and the number and
    the size of each one's cluster; a label below 0 is no cluster.
    """
    rows = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[rows], minlength=int(labels.max(initial=-1)) + 1)
    rows = rows[sizes[labels[rows]] > 1]
    rows = rows[np.argsort(ids.ranks(rows), kind="stable")]
    found, first_places = np.unique(labels[rows], return_index=True)
    numbers = np.empty(len(sizes), np.int64)
    numbers[found[np.lexsort((first_places, -sizes[found]))]] = np.arange(1, len(found) + 1)
    rows = rows[np.argsort(numbers[labels[rows]], kind="stable")]
    return rows, numbers[labels[rows]], sizes[labels[rows]]


@dataclass(frozen=True)
class DedupResult:
    """The corpus without near-duplicates, and what was removed."""

    plan: Plan
    settings: Settings
    summary: Summary
    ground: Ground = field(repr=False)
    kept_rows: NDArray[np.int64] = field(repr=False)
    """The documents that stay, in the order of the source; empty ones among them."""
    removed_rows: NDArray[np.int64] = field(repr=False)
    """The others, by id."""
    named: NDArray[np.int64] = field(repr=False)
    """The kept document that each of them names."""
    similarity: NDArray[np.float64] = field(repr=False)
    references: int = 0
    """Documents, the first ones, of a reference corpus that is never touched."""
    take: Callable[[NDArray[np.int64]], Any] | None = field(default=None, repr=False)
    """Gives documents in the kind of the source."""

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def kept(self) -> Any:
        """The kept documents in the kind of the source: a list of texts, a dict, a table, …"""
        return self.take(self.kept_rows) if self.take else None

    @property
    def kept_ids(self) -> pa.Array:
        """Their ids, in the order of the source."""
        return self.ground.ids.take(self.kept_rows)

    @cached_property
    def removed(self) -> pa.Table:
        """id, kept, similarity: each removed document and the kept one it names, by id.

        That is the most similar of the kept documents that were preferred to it, or to the first
        of its identical copies.
        """
        return pa.table(
            {
                "id": self.ground.ids.take(self.removed_rows),
                "kept": self.ground.ids.take(self.named),
                "similarity": pa.array(self.similarity),
            },
            metadata=self.metadata,
        )

    @cached_property
    def clusters(self) -> pa.Table:
        """The kept documents that others name, and those: id, cluster, size, similarity, kept.

        With a reference corpus also `reference`, whether the document is of it. The similarity is
        that of a document with the kept one of its cluster, which was compared with it: there are
        no chains.
        """
        labels = np.full(len(self.ground.ids), -1, np.int64)
        labels[self.named] = self.named
        labels[self.removed_rows] = self.named
        similarity = np.ones(len(labels))
        similarity[self.removed_rows] = self.similarity
        stays = np.ones(len(labels), np.bool_)
        stays[self.removed_rows] = False
        rows, numbers, sizes = numbered(labels, self.ground.ids)
        columns = {
            "id": self.ground.ids.take(rows),
            "cluster": pa.array(numbers),
            "size": pa.array(sizes),
            "similarity": pa.array(similarity[rows]),
            "kept": pa.array(stays[rows]),
        }
        if self.references:
            columns["reference"] = pa.array(rows < self.references)
        return pa.table(columns, metadata=self.metadata)


@dataclass(frozen=True)
class ContainmentResult:
    """Pairs of which one document is mostly inside the other, each with its direction."""

    settings: Settings
    summary: Summary
    ground: Ground = field(repr=False)
    links: Links = field(repr=False)
    """Directed pairs of groups; the similarity of a link is the share of the first that is in the
    second, and `first_in_second` is the similarity of both."""

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def pair_count(self) -> int:
        """The number of directed pairs."""
        sizes = self.ground.groups.sizes
        between = sum(
            int((sizes[block.first] * sizes[block.second]).sum()) for block in self.links.blocks()
        )
        return between + int((sizes * (sizes - 1)).sum())

    @cached_property
    def pairs(self) -> pa.Table:
        """a, which is inside b; b; containment; similarity; score; the most contained first."""
        if self.pair_count > MOST_PAIRS:
            raise OutputError(
                f"{self.pair_count:,} pairs do not fit in memory: raise the containment"
            )
        return pa.concat_tables([*self.pair_blocks()]).combine_chunks()

    def pair_blocks(self) -> Iterator[pa.Table]:
        """Give the pairs in order, a table at a time; the first may be empty."""
        sorter = self.ground.sorter("contained.sorted")
        self._fill(sorter)
        yield self._table(np.empty(0, SORTED))
        for records in sorter.blocks():
            yield self._table(records)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`."""
        best = _Best(most)
        self._fill(best, *first_members(self.ground.groups, self._by_id, most + 1))
        return self._table(best.records)

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are inside nothing, in order."""
        return self.ground.empty()

    @cached_property
    def _by_id(self) -> ByRank:
        return self.ground.by_id(paired(self.links, self.ground.groups))

    def _fill(
        self,
        sorter: Sorter,
        members: NDArray[np.int64] | None = None,
        starts: NDArray[np.int64] | None = None,
    ) -> None:
        ranks = self._by_id.ranks
        for block in laid_out(self.links, self.ground.groups, members=members, starts=starts):
            first, second = ranks[block.first], ranks[block.second]
            sorter.append(block.similarity, first, second, block.forward, block.backward)
            if block.same:
                sorter.append(block.similarity, second, first, block.forward, block.backward)

    def _table(self, records: NDArray[np.void]) -> pa.Table:
        return pa.table(
            {
                **names_of(records, self._by_id, self.ground.ids),
                "containment": pa.array((~records["score"]).view(np.float64)),
                "similarity": pa.array(records["forward"].copy()),
                "score": pa.array(["exact"] * len(records), pa.string()),
            },
            metadata=self.metadata,
        )


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
