"""What an index is made by, what it holds, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.index.adding import GONE_COUNTER, counter
from lookalike.index.columns import Columns
from lookalike.index.store import FORMAT

if TYPE_CHECKING:
    from lookalike.index.store import Store
    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe

__all__ = ["info_of"]

LARGEST = 5
"""Buckets that are named."""


def info_of(store: Store, recipe: Recipe, plan: Plan) -> dict[str, Any]:
    """Give the facts of an index as plain values."""
    bands = recipe.layout.bands
    with store.read() as reader:
        counts, room = reader.counts(), reader.bytes_by_part()
        largest = reader.largest_buckets(max(bands, LARGEST))
        columns = Columns.load(reader.fact("columns"))
        gone = counter(reader, GONE_COUNTER)
        sketches = [len(entry.sketch) for entry in reader.next_entries(0, 1)]
    documents = counts["documents"]
    # At worst a document is in the largest bucket of every band.
    looked_at = sum(size for _, size in largest[:bands])
    return {
        "address": store.address,
        "format": FORMAT,
        "recipe": recipe.fingerprint,
        "documents": documents,
        "distinct": counts["entries"],
        "removed": gone,
        "keeps_text": not recipe.by_sketches,
        "ids": "whole numbers" if columns.whole_ids else "text",
        "metadata": dict(columns.metadata),
        "metric": recipe.metric.name,
        "shingle": recipe.shingle,
        "shingle_reason": plan.shingle_reason,
        "normalise": str(recipe.form.normalisation),
        "threshold": recipe.threshold,
        "recall": plan.recall,
        "planned_for": plan.documents,
        "bands": plan.bands,
        "rows": plan.rows,
        "found_at_threshold": plan.probability(recipe.threshold),
        "curve": [point._asdict() for point in plan.table()],
        "bytes": sum(room.values()),
        "bytes_by_part": room,
        "bytes_per_document": {
            part: round(size / documents, 1) if documents else 0.0 for part, size in room.items()
        },
        "largest_buckets": [size for _, size in largest[:LARGEST]],
        "worst_query": {"sketches": looked_at, "bytes": looked_at * (sum(sketches) + 8)},
    }
