"""What a job found, as tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

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

MOST_PAIRS = 100_000_000
"""Pairs that are laid out in memory."""


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
        first, second, similarity, exact, *_ = self._ordered
        labels = pa.array(["estimated", "exact"])
        return pa.table(
            {
                "a": self.documents.ids.take(pa.array(first)),
                "b": self.documents.ids.take(pa.array(second)),
                "similarity": pa.array(similarity),
                "score": labels.take(pa.array(exact.astype(np.int8))),
            },
            metadata=self.metadata,
        )

    @cached_property
    def containments(self) -> pa.Table:
        """The pairs again: which share of a's shingles b has, and which share of b's a has."""
        first, second, _, _, a_in_b, b_in_a = self._ordered
        return pa.table(
            {
                "a": self.documents.ids.take(pa.array(first)),
                "b": self.documents.ids.take(pa.array(second)),
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
        of_document = np.where(groups.of_document >= 0, labels[groups.of_document], -1)
        rows = np.flatnonzero(of_document >= 0)
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
    def _ordered(self) -> tuple[NDArray[Any], ...]:
        """The pairs of documents in the order of the result."""
        if self.pair_count > MOST_PAIRS:
            raise OutputError(
                f"{self.pair_count:,} similar pairs do not fit in memory: ask for the clusters, "
                "drop duplicates with dedup, or raise the threshold"
            )
        groups, scored = self.groups, self.scored
        sizes = groups.sizes
        which, left, right = pairs_between(sizes[scored.first], sizes[scored.second])
        same, earlier, later = pairs_within(sizes)
        starts = groups.starts
        first = groups.members[
            np.concatenate([starts[scored.first[which]] + left, starts[same] + earlier])
        ]
        second = groups.members[
            np.concatenate([starts[scored.second[which]] + right, starts[same] + later])
        ]
        ones = np.ones(len(same))
        similarity = np.concatenate([scored.similarity[which], ones])
        forward = np.concatenate([scored.first_in_second[which], ones])
        backward = np.concatenate([scored.second_in_first[which], ones])
        exact = np.ones(len(first), np.bool_)
        if self.settings.estimate:
            exact[: len(which)] = False
        ranks = self._ranks
        swapped = ranks[first] > ranks[second]
        a, b = np.where(swapped, second, first), np.where(swapped, first, second)
        order = np.lexsort((ranks[b], ranks[a], -similarity))
        a_in_b, b_in_a = np.where(swapped, backward, forward), np.where(swapped, forward, backward)
        return tuple(each[order] for each in (a, b, similarity, exact, a_in_b, b_in_a))


@dataclass(frozen=True)
class DedupResult:
    """The corpus without near-duplicates, and what was removed."""

    kept: Any
    """The kept documents, in the kind of the source: a list of texts, a dict, a column, a table."""
    kept_ids: pa.Array
    """Their ids, in the order of the source."""
    removed: pa.Table
    """id, kept, similarity: each removed document and the kept one it is nearest to."""
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
        return source[rows]
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
