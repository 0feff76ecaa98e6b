"""Clusters of similar documents, as the numbers of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.results.documents import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.results.documents import Documents

__all__ = ["Clusters"]


@dataclass(frozen=True)
class Clusters:
    """The cluster of each group of identical documents, and how alike its members are."""

    documents: Documents
    labels: NDArray[np.int64]
    """Of each group."""
    smallest: NDArray[np.float64]
    """Of each label, the smallest similarity between two members."""
    by_id: NDArray[np.int64]
    """The documents that are in a pair, in the order of their ids."""

    def table(self, metadata: dict[str, str]) -> pa.Table:
        """Give the members of each cluster of two or more: id, cluster, size, similarity."""
        of_group = self.documents.groups.of_document
        filled = of_group >= 0
        of_document = np.full(len(of_group), -1)
        of_document[filled] = self.labels[of_group[filled]]
        rows, numbers, sizes = numbered(of_document, self.by_id)
        return pa.table(
            {
                "id": self.documents.ids.take(rows),
                "cluster": pa.array(numbers),
                "size": pa.array(sizes),
                "similarity": pa.array(self.smallest[of_document[rows]]),
            },
            metadata=metadata,
        )
