"""Documents of an index that are similar to others, one by one and as tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

__all__ = ["Admission", "Match", "Nearest", "match_table"]

FIXED = {"id", "match", "similarity", "score"}
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
