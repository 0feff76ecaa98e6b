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
    """The cluster of each group of identical documents, and how alike its members are.

    The groups are those of `documents.joined`.
    """

    documents: Documents
    labels: NDArray[np.int64]
    """Of each group; below 0 of one that is in none."""
    smallest: NDArray[np.float64]
    """Of each label, the smallest similarity between two members."""
    by_id: NDArray[np.int64]
    """The documents that may be in a pair, in the order of their ids."""
    across: bool = False
    """Pairs are of a document of the source and one of a reference."""

    def table(self, metadata: dict[str, str]) -> pa.Table:
        """Give the members of each cluster of two or more: id, cluster, size, similarity.

        Across two corpora also `corpus`, the source or the reference, of which each is.
        """
        of_group = self.documents.joined.of_document
        filled = of_group >= 0
        of_document = np.full(len(of_group), -1)
        of_document[filled] = self.labels[of_group[filled]]
        rows, numbers, sizes = numbered(of_document, self.by_id)
        columns = {
            "id": self.documents.ids.take(rows),
            "cluster": pa.array(numbers),
            "size": pa.array(sizes),
            "similarity": pa.array(self.smallest[of_document[rows]]),
        }
        if self.across:
            columns["corpus"] = self.documents.origin.corpora(rows)
        return pa.table(columns, metadata=metadata)
