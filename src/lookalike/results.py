"""What a job found, as tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike import cluster
from lookalike.errors import OutputError
from lookalike.groups import pairs_between, pairs_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.groups import Groups
    from lookalike.normalise import Canonical
    from lookalike.planning import Plan
    from lookalike.read import Documents
    from lookalike.settings import Settings
    from lookalike.verify import Scored

__all__ = ["DedupResult", "FindResult", "Summary"]

MOST_PAIRS = 30_000_000
"""Pairs that are laid out in memory, at some 100 bytes each."""


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


@dataclass(frozen=True)
class FindResult:
    """Similar pairs and clusters, with the plan and the settings that found them."""

    plan: Plan
    settings: Settings
    summary: Summary
    documents: Documents = field(repr=False)
    canonical: Canonical = field(repr=False)
    groups: Groups = field(repr=False)
    scored: Scored = field(repr=False)
    """Pairs of groups of identical documents."""
    signatures: NDArray[np.uint32] | None = field(repr=False)

    @property
    def pair_count(self) -> int:
        """The number of similar pairs."""
        sizes = self.groups.sizes
        between = sizes[self.scored.first] * sizes[self.scored.second]
        return int(between.sum() + (sizes * (sizes - 1) // 2).sum())

    @cached_property
    def pairs(self) -> pa.Table:
        """Every pair once: a, b, similarity, score; the most similar first, then by ids."""
        return self._table(self._ordered)

    def _table(self, pairs: _Pairs) -> pa.Table:
        labels = pa.array(["exact", "estimated"])
        estimated = (pairs.source >= 0) & self.settings.estimate
        return pa.table(
            {
                "a": self.documents.ids.take(pa.array(pairs.a)),
                "b": self.documents.ids.take(pa.array(pairs.b)),
                "similarity": pa.array(pairs.similarity),
                "score": labels.take(pa.array(estimated.astype(np.int8))),
            },
            metadata=self.metadata,
        )

    @cached_property
    def containments(self) -> pa.Table:
        """The pairs again: which share of a's shingles b has, and which share of b's a has."""
        pairs, scored = self._ordered, self.scored
        # Identical documents come of no scored pair; the 1 at the end is theirs.
        forward = np.append(scored.first_in_second, 1.0)[pairs.source]
        backward = np.append(scored.second_in_first, 1.0)[pairs.source]
        a_in_b = np.where(pairs.swapped, backward, forward)
        b_in_a = np.where(pairs.swapped, forward, backward)
        return pa.table(
            {
                "a": self.documents.ids.take(pa.array(pairs.a)),
                "b": self.documents.ids.take(pa.array(pairs.b)),
                "a_in_b": pa.array(a_in_b, from_pandas=True),
                "b_in_a": pa.array(b_in_a, from_pandas=True),
            },
            metadata=self.metadata,
        )

    @property
    def metadata(self) -> dict[str, str]:
        """What is written into every file made of this result."""
        return {"lookalike.fingerprint": self.settings.fingerprint()}

    @cached_property
    def empty(self) -> pa.Array:
        """The ids of the empty documents, which are similar to nothing, in order."""
        rows = np.flatnonzero(self.groups.of_document < 0)
        return self.documents.ids.take(pa.array(rows[np.argsort(self._ranks[rows])]))

    @cached_property
    def clusters(self) -> pa.Table:
        """The members of each cluster of two or more: id, cluster, size, similarity.

        Clusters are connected components, numbered from 1, the largest first. The similarity is
        the smallest between any two members (of at most 200, see `cluster.smallest_similarities`).
        """
        groups = self.groups
        labels = cluster.components(len(groups), self.scored.first, self.scored.second)
        rows = np.flatnonzero(groups.of_document >= 0)
        of_document = np.full(len(groups.of_document), -1)
        of_document[rows] = labels[groups.of_document[rows]]
        sizes = np.bincount(of_document[rows], minlength=labels.max(initial=-1) + 1)
        rows = rows[sizes[of_document[rows]] > 1]
        rows = rows[np.argsort(self._ranks[rows], kind="stable")]
        found, first_places = np.unique(of_document[rows], return_index=True)
        numbers = np.empty(len(sizes), np.int64)
        numbers[found[np.lexsort((first_places, -sizes[found]))]] = np.arange(1, len(found) + 1)
        rows = rows[np.argsort(numbers[of_document[rows]], kind="stable")]
        component = of_document[rows]
        return pa.table(
            {
                "id": self.documents.ids.take(pa.array(rows)),
                "cluster": pa.array(numbers[component]),
                "size": pa.array(sizes[component]),
                "similarity": pa.array(self._smallest(labels)[component]),
            },
            metadata=self.metadata,
        )

    @cached_property
    def _ranks(self) -> NDArray[np.int64]:
        return self.documents.ranks()

    def _smallest(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        from lookalike.shingle import Shingling

        shingling = Shingling.parse(self.settings.shingle, multiset=self.settings.multiset)
        return cluster.smallest_similarities(
            labels,
            self.scored,
            self.canonical,
            self.groups.representatives,
            shingling,
            self.signatures,
        )

    @cached_property
    def _ordered(self) -> _Pairs:
        """The pairs of documents in the order of the result."""
        if self.pair_count > MOST_PAIRS:
            raise OutputError(
                f"{self.pair_count:,} similar pairs do not fit in memory: ask for the clusters, "
                "drop duplicates with dedup, or raise the threshold"
            )
        return self._laid_out(np.arange(len(self.scored)), self.groups.members, self.groups.starts)

    def top(self, most: int) -> pa.Table:
        """Give the first rows of `pairs`, without laying out all of them."""
        sizes, scored = self.groups.sizes, self.scored
        # In the order of ids, the first pairs of a group are of its first members.
        groups = np.repeat(np.arange(len(sizes)), sizes)
        by_rank = np.lexsort((self._ranks[self.groups.members], groups))
        place = np.arange(len(groups)) - np.repeat(self.groups.starts[:-1], sizes)
        members = self.groups.members[by_rank][place <= most]
        starts = np.append(0, np.cumsum(np.minimum(sizes, most + 1)))
        chosen = np.arange(len(scored))
        if len(scored) > most:
            least = np.partition(scored.similarity, -most)[-most]
            chosen = np.flatnonzero(scored.similarity >= least)
        return self._table(self._laid_out(chosen, members, starts)).slice(0, most)

    def _laid_out(
        self, chosen: NDArray[np.int64], members: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> _Pairs:
        """Lay out, in order, the pairs of documents of some pairs of groups and within groups."""
        sizes = np.diff(starts)
        left, right = self.scored.first[chosen], self.scored.second[chosen]
        which, i, j = pairs_between(sizes[left], sizes[right])
        same, earlier, later = pairs_within(sizes)
        first = members[np.concatenate([starts[left[which]] + i, starts[same] + earlier])]
        second = members[np.concatenate([starts[right[which]] + j, starts[same] + later])]
        source = np.concatenate([chosen[which], np.full(len(same), -1)])
        similarity = np.ones(len(source))
        similarity[: len(which)] = self.scored.similarity[chosen[which]]
        ranks = self._ranks
        swapped = ranks[first] > ranks[second]
        a, b = np.where(swapped, second, first), np.where(swapped, first, second)
        order = np.lexsort((ranks[b], ranks[a], -similarity))
        return _Pairs(a[order], b[order], similarity[order], source[order], swapped[order])


class _Pairs(NamedTuple):
    """Pairs of documents, each with the pair of groups it comes of, -1 for one group's own."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarity: NDArray[np.float64]
    source: NDArray[np.int64]
    swapped: NDArray[np.bool_]


@dataclass(frozen=True)
class DedupResult:
    """The corpus without near-duplicates, and what was removed."""

    kept: Any
    """The kept documents, in the kind of the source: a list of texts, a dict, a column, a table."""
    kept_ids: pa.Array
    """Their ids, in the order of the source."""
    removed: pa.Table
    """id, kept, similarity: each removed document and the kept one it is nearest to, by id."""
    found: FindResult = field(repr=False)

    @property
    def plan(self) -> Plan:
        """The plan of the search."""
        return self.found.plan

    @property
    def clusters(self) -> pa.Table:
        """The clusters of similar documents."""
        return self.found.clusters

    @classmethod
    def of(cls, found: FindResult, order: NDArray[np.int64], source: Any) -> DedupResult:
        """Keep documents in the given order of preference; empty ones stay as they are."""
        groups, scored = found.groups, found.scored
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        best = np.lexsort((places[groups.members], groups.of_document[groups.members]))
        champions = groups.members[best][groups.starts[:-1]]
        stars = cluster.stars(
            np.argsort(places[champions]), scored.first, scored.second, scored.similarity
        )
        kept = groups.of_document < 0
        kept[champions[stars.kept]] = True
        removed = np.flatnonzero(~kept)
        removed = removed[np.argsort(found.documents.ranks()[removed])]
        of_removed = groups.of_document[removed]
        ids = found.documents.ids
        return cls(
            kept=_take(source, found.documents, np.flatnonzero(kept)),
            kept_ids=ids.take(pa.array(np.flatnonzero(kept))),
            removed=pa.table(
                {
                    "id": ids.take(pa.array(removed)),
                    "kept": ids.take(pa.array(champions[stars.nearest[of_removed]])),
                    "similarity": pa.array(stars.similarity[of_removed]),
                },
                metadata=found.metadata,
            ),
            found=found,
        )


def _take(source: Any, documents: Documents, rows: NDArray[np.int64]) -> Any:
    """Give the chosen documents in the kind of the source; of a path, a dict of texts by id."""
    package = type(source).__module__.partition(".")[0]
    if package == "pandas":
        return source.iloc[rows]
    if package == "polars":
        return (source.collect() if hasattr(source, "collect") else source)[rows]
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        # Arrow takes no rows of a column of views; it does of the same as large strings.
        views = source.type == pa.string_view()
        column = source.cast(pa.large_string()) if views else source
        return column.take(pa.array(rows)).cast(source.type)
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        return source.take(pa.array(rows))
    if isinstance(source, Mapping):
        names = list(source)
        return {names[row]: source[names[row]] for row in rows.tolist()}
    texts = documents.texts.take(pa.array(rows)).to_pylist()
    if isinstance(source, (str, os.PathLike)):
        return dict(zip(documents.ids.take(pa.array(rows)).to_pylist(), texts, strict=True))
    return texts
