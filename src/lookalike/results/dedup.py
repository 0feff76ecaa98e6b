"""The corpus without near-duplicates, and what was removed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.results.documents import numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.planning.plan import Plan
    from lookalike.results.documents import Ground, Summary
    from lookalike.settings import Settings

__all__ = ["DedupResult"]

CORPORA = pa.array(["source", "reference"])
"""What a document can be of, without and with a reference corpus alike."""


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
        """id, kept, similarity, kept_in: each removed document and the kept one it names, by id.

        That is the most similar of the kept documents that were preferred to it, or to the first
        of its identical copies. `kept_in` says of which corpus it is, the source or the reference:
        an id may stand in both.
        """
        return pa.table(
            {
                "id": self.ground.ids.take(self.removed_rows),
                "kept": self.ground.ids.take(self.named),
                "similarity": pa.array(self.similarity),
                "kept_in": self._corpora(self.named),
            },
            metadata=self.metadata,
        )

    @cached_property
    def clusters(self) -> pa.Table:
        """The kept documents that others name, and those: id, cluster, size, similarity, kept.

        Last comes `corpus`, the source or the reference, of which the document is. The similarity
        is that of a document with the kept one of its cluster, which was compared with it: there
        are no chains.
        """
        labels = np.full(len(self.ground.ids), -1, np.int64)
        labels[self.named] = self.named
        labels[self.removed_rows] = self.named
        similarity = np.ones(len(labels))
        similarity[self.removed_rows] = self.similarity
        stays = np.ones(len(labels), np.bool_)
        stays[self.removed_rows] = False
        by_id = self.ground.in_order(np.flatnonzero(labels >= 0))
        rows, numbers, sizes = numbered(labels, by_id)
        columns = {
            "id": self.ground.ids.take(rows),
            "cluster": pa.array(numbers),
            "size": pa.array(sizes),
            "similarity": pa.array(similarity[rows]),
            "kept": pa.array(stays[rows]),
            "corpus": self._corpora(rows),
        }
        return pa.table(columns, metadata=self.metadata)

    def _corpora(self, rows: NDArray[np.int64]) -> pa.Array:
        """Name the corpus of each document."""
        return CORPORA.take(pa.array((rows < self.references).astype(np.int8)))
