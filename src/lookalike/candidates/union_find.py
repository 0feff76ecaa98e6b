"""Connected components of documents, as pairs come: a union-find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.kernels import components as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["UnionFind"]


class UnionFind:
    """Documents, put together by pairs."""

    def __init__(self, documents: int) -> None:
        """Begin with each document by itself."""
        self._parents = np.arange(documents, dtype=np.int64)

    def unite(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        """Put the two documents of each pair together."""
        kernels.unite(self._parents, first, second)

    def together(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the places of documents: those of a component one after the other, in order."""
        order = np.empty(len(items), np.int64)
        kernels.order_by_label(self.labels(), items, order)
        return order

    def labels(self) -> NDArray[np.int64]:
        """Give each document the number of its component; one by itself has one too."""
        labels = np.empty(len(self._parents), np.int64)
        kernels.number_trees(self._parents, labels)
        return labels
