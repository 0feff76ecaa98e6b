"""Similar pairs and clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.candidates.hamming import BITS
from lookalike.candidates.union_find import UnionFind
from lookalike.cluster import components
from lookalike.results.documents import (
    ByRank,
    first_members,
    names_of,
    numbered,
    paired,
    refuse_too_many,
)
from lookalike.results.pairs import SORTED, Best, Sorter, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.planning.plan import Plan
    from lookalike.results.documents import Ground, Summary
    from lookalike.results.pairs import Links
    from lookalike.score.jaccard import Scored
    from lookalike.settings import Settings

__all__ = ["FindResult"]

INSTEAD = "ask for the clusters, drop duplicates with dedup, or raise the threshold"
GIANT = 100
"""Documents from which a cluster counts as a giant, if it holds one in a hundred of all too."""


@dataclass(frozen=True)
class FindResult:
    """Similar pairs and clusters, with the plan and the settings that found them."""

    plan: Plan
    settings: Settings
    summary: Summary
    ground: Ground = field(repr=False)
    links: Links = field(repr=False)
    """Pairs of groups of identical documents."""
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored] = field(repr=False)
    """Scores any pairs of groups, as the links were scored."""

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def pair_count(self) -> int:
        """The number of similar pairs."""
        sizes = self.ground.groups.sizes
        return self.links.between(sizes) + int((sizes * (sizes - 1) // 2).sum())

    @cached_property
    def _by_id(self) -> ByRank:
        """Those that are in a pair; the ids of others are not needed."""
        return self.ground.by_id(paired(self.links, self.ground.groups))

    @cached_property
    def pairs(self) -> pa.Table:
        """Every pair once: a, b, similarity, score; the most similar first, then by ids.

        With simhash also `distance`, the bits in which the fingerprints differ.
        """
        refuse_too_many(self.pair_count, INSTEAD)
        return self._whole(self.pair_blocks())

    @cached_property
    def containments(self) -> pa.Table:
        """The pairs again: which share of a's shingles b has, and which share of b's a has.

        Null where similarities are estimated, and with the cosine.
        """
        refuse_too_many(self.pair_count, INSTEAD)
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
        sorter: Sorter | Best,
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
        estimated = np.isnan(records["forward"]) & self.settings.by_sketches
        similarity = (~records["score"]).view(np.float64)
        columns = {
            **self._names(records),
            "similarity": pa.array(similarity),
            "score": labels.take(pa.array(estimated.astype(np.int8))),
        }
        if self.settings.simhash is not None:
            apart = np.rint(np.arccos(similarity) / np.pi * BITS).astype(np.int64)
            columns["distance"] = pa.array(apart)
        return pa.table(columns, metadata=self.metadata)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`, without laying out all of them."""
        members, starts = first_members(self.ground.groups, self._by_id, most + 1)
        best = Best(most)
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
        the smallest between any two members (of at most 200, see `smallest_similarities`).
        """
        groups = self.ground.groups
        forest = UnionFind(len(groups))
        for block in self.links.blocks():
            forest.unite(block.first, block.second)
        labels = forest.labels()
        smallest = components.smallest_similarities(
            labels,
            self.links.blocks(),
            self.ground.texts.fingerprints[groups.representatives, 0],
            self.compare,
        )
        filled = groups.of_document >= 0
        of_document = np.full(len(groups.of_document), -1)
        of_document[filled] = labels[groups.of_document[filled]]
        rows, numbers, sizes = numbered(of_document, self._by_id.rows)
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
