"""The pairs and clusters of any result, in one shape, the first ones of many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SettingsError
from lookalike.reports.sources import REFERENCE, SOURCE
from lookalike.results import ContainmentResult, DedupResult, FindResult
from lookalike.results.similar_pairs import CONTAINMENTS, HeldPairs, StoredPairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.results import Result

    Key = tuple[str, Any]
    """A document: of which corpus it is, and its id there."""

__all__ = [
    "BINS",
    "FoundCluster",
    "FoundPairs",
    "binned",
    "clusters_of",
    "extend",
    "is_across",
    "pairs_of",
    "with_corpora",
]

BINS = 50
"""Of a histogram, from 0 to 1."""
MAX_MEMBERS = 200
"""Of a cluster that are named."""
MAX_CLUSTERED = 200_000
"""Members of all clusters that are named."""
NO_SHARE = float("nan")


@dataclass
class FoundPairs:
    """Pairs as they were found: the first ones, and how many of each similarity there are."""

    directed: bool
    """Whether `a` and `b` have parts of their own: a part and a whole, a removed and a kept one."""
    a: list[Key] = field(default_factory=list)
    b: list[Key] = field(default_factory=list)
    similarity: list[float] = field(default_factory=list)
    a_in_b: list[float] = field(default_factory=list)
    """NaN where it is not known."""
    b_in_a: list[float] = field(default_factory=list)
    count: int = 0
    """Of all pairs."""
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, np.int64))
    """Of all pairs, in bins by similarity."""

    def __len__(self) -> int:
        """Count those that are named."""
        return len(self.a)

    def add(self, a: Key, b: Key, similarity: float, a_in_b: float, b_in_a: float) -> None:
        """Name a pair."""
        self.a.append(a)
        self.b.append(b)
        self.similarity.append(similarity)
        self.a_in_b.append(a_in_b)
        self.b_in_a.append(b_in_a)


@dataclass
class FoundCluster:
    """A cluster: its first members by id."""

    number: int
    size: int
    similarity: float
    members: list[Key] = field(default_factory=list)


def pairs_of(result: Result, most: int) -> FoundPairs:
    """Give the first pairs of a result."""
    found = FoundPairs(directed=not isinstance(result, FindResult))
    for table in _tables(result):
        similarity = table["similarity"].to_numpy()
        found.counts += binned(similarity)
        found.count += len(table)
        first = table.slice(0, max(most - len(found), 0))
        if len(first):
            extend(found, first)
    return found


def binned(similarity: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count similarities in bins; those below 0, of the cosine, stand in the first."""
    places = np.clip((similarity * BINS + 1e-9).astype(np.int64), 0, BINS - 1)
    return np.bincount(places, minlength=BINS)


def extend(found: FoundPairs, table: pa.Table) -> None:
    """Name the pairs of a table: a, a_of, b, b_of, similarity, and containments if there are."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    rows = len(table)
    unknown = [NO_SHARE] * rows
    for row, (a, b, similarity) in enumerate(
        zip(columns["a"], columns["b"], columns["similarity"], strict=True)
    ):
        a_in_b, b_in_a = (columns.get(name, unknown)[row] for name in CONTAINMENTS)
        found.add(
            (columns["a_of"][row], a),
            (columns["b_of"][row], b),
            similarity,
            NO_SHARE if a_in_b is None else a_in_b,
            NO_SHARE if b_in_a is None else b_in_a,
        )


def _tables(result: Result) -> Iterator[pa.Table]:
    """Give pairs as tables of the same columns: a, a_of, b, b_of, similarity and what is known."""
    if isinstance(result, FindResult):
        second = REFERENCE if is_across(result) else SOURCE
        for table in result.similar.blocks(containments=_has_containments(result)):
            yield with_corpora(table, SOURCE, second)
    elif isinstance(result, ContainmentResult):
        for table in result.pair_blocks():
            named = table.rename_columns(["a", "b", "similarity", "jaccard", "copies", "score"])
            named = named.append_column("a_in_b", named["similarity"])
            yield with_corpora(named, SOURCE, SOURCE)
    elif isinstance(result, DedupResult):
        removed = result.removed
        order = np.argsort(-removed[result.score].to_numpy(), kind="stable")
        removed = removed.take(order).rename_columns(["a", "b", "similarity", "b_of"])
        if result.score == "containment":
            removed = removed.append_column("a_in_b", removed["similarity"])
        yield with_corpora(removed, SOURCE, None)
    else:
        raise SettingsError(
            f"a result of {result.command} has no pairs to report: use one of find, dedup or "
            "contained"
        )


def is_across(result: FindResult) -> bool:
    """Tell whether pairs are of a document of the source and one of a reference."""
    if result.documents is not None:
        return len(result.documents.origin.sources) > 1
    return bool(result.run.against)


def with_corpora(table: pa.Table, first: str, second: str | None) -> pa.Table:
    """Add to a table of pairs of which corpus each document is; None where it is there."""
    table = table.append_column("a_of", pa.array([first] * len(table), pa.string()))
    if second is None:
        return table
    return table.append_column("b_of", pa.array([second] * len(table), pa.string()))


def _has_containments(result: FindResult) -> bool:
    similar = result.similar
    if isinstance(similar, HeldPairs):
        return CONTAINMENTS[0] in similar.whole.column_names
    return not isinstance(similar, StoredPairs) or result.clusters_file is not None


def clusters_of(result: Result) -> tuple[list[FoundCluster], dict[Key, int]]:
    """Give the clusters of a result, the largest first, and which cluster each document is in.

    Of the largest cluster to the smallest, members are named up to a bound on all of them.
    """
    if isinstance(result, ContainmentResult) or not _has_clusters(result):
        return [], {}
    table = result.clusters  # type: ignore[attr-defined] # which find and dedup have
    score = "containment" if "containment" in table.column_names else "similarity"
    names = table["id"].to_pylist()
    corpora = (
        table["corpus"].to_pylist() if "corpus" in table.column_names else [SOURCE] * len(names)
    )
    clusters: list[FoundCluster] = []
    of: dict[Key, int] = {}
    listed = 0
    rows = zip(
        *(table[name].to_pylist() for name in ("cluster", "size", score)),
        names,
        corpora,
        strict=True,
    )
    for number, size, similarity, name, corpus in rows:
        of[corpus, name] = number
        if not clusters or clusters[-1].number != number:
            if listed >= MAX_CLUSTERED:
                continue
            clusters.append(FoundCluster(number, size, similarity))
        last = clusters[-1]
        last.similarity = min(last.similarity, similarity)
        if last.number == number and len(last.members) < MAX_MEMBERS:
            last.members.append((corpus, name))
            listed += 1
    return clusters, of


def _has_clusters(result: Result) -> bool:
    if isinstance(result, FindResult):
        known = result.grouped is not None or result.clusters_file is not None
        return known or "clusters" in vars(result)
    return isinstance(result, DedupResult)
