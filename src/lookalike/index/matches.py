"""Documents of an index that are similar to others, one by one and as tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from lookalike.index.unread import NotRead

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date, datetime

__all__ = ["Admission", "Match", "Nearest", "Queried", "match_table"]

ARROW_TYPES = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


@dataclass(frozen=True)
class Match:
    """A document of the index that is similar to one that was looked for."""

    id: str | int
    similarity: float
    score: str
    """How the similarity is known: `exact`, or `estimated` from sketches."""
    metadata: dict[str, str | int | float | bool | date | datetime] = field(default_factory=dict)
    query_in_match: float | None = None
    """The share of the looked-for document's shingles that the match has, where it is known."""
    match_in_query: float | None = None


@dataclass
class Queried:
    """Tables of matches as they are made, and what is counted up to the last of them."""

    tables: Iterator[pa.Table] = field(default_factory=lambda: iter(()), repr=False)
    documents: int = 0
    """Looked for."""
    similar: int = 0
    """Of them, those that something in the index is similar to."""
    matches: int = 0
    unread: NotRead = field(default_factory=NotRead)
    """What of the source was not read, and why."""

    def __iter__(self) -> Iterator[pa.Table]:
        """Give the tables, once."""
        return self.tables

    def count(self, matches: Sequence[Sequence[Match]]) -> None:
        """Count the matches of more documents."""
        self.documents += len(matches)
        self.similar += sum(map(bool, matches))
        self.matches += sum(map(len, matches))


class Nearest(NamedTuple):
    """The document of an index that is the most similar to one that was looked for."""

    similarity: float
    id: str | int


@dataclass(frozen=True)
class Admission:
    """Whether a document was new, and if not, what it is similar to."""

    added: bool
    matches: list[Match]


def match_table(
    ids: pa.Array,
    matches: Sequence[Sequence[Match]],
    types: Mapping[str, str],
    *,
    whole_ids: bool,
    containment: bool,
) -> pa.Table:
    """Lay out the matches of documents, a row each; metadata in columns of its own."""
    rows = [(place, one) for place, mine in enumerate(matches) for one in mine]
    found = [one for _, one in rows]
    id_type = pa.int64() if whole_ids else pa.string()
    columns: dict[str, Any] = {
        "id": ids.take(pa.array([place for place, _ in rows], pa.int64())),
        "match": pa.array([one.id for one in found], id_type),
        "similarity": pa.array([one.similarity for one in found], pa.float64()),
        "score": pa.array([one.score for one in found], pa.string()),
    }
    if containment:
        for name in ("query_in_match", "match_in_query"):
            columns[name] = pa.array([getattr(one, name) for one in found], pa.float64())
    for name, kind in sorted(types.items()):
        values = [one.metadata.get(name) for one in found]
        columns[f"metadata.{name}"] = pa.array(values, ARROW_TYPES[kind])
    return pa.table(columns)
