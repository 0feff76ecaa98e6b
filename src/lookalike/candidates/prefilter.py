"""Candidates dismissed by a few bits of their sketches, before the documents are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.candidates.buckets import BLOCK_DOCUMENTS
from lookalike.sketches import hyperplanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Prefilter"]


class Prefilter:
    """Dismisses candidates whose sketches differ too much."""

    def __init__(self, bits: NDArray[np.uint32], most: int, threads: int = 1) -> None:
        """Take the first words of all sketches, and the bits in which two may differ."""
        self._bits = bits
        self._most = most
        self._threads = threads

    def differing(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the bits in which the sketches of candidates differ."""
        return hyperplanes.differing(self._bits, first, second)

    def passing(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the candidates that are worth comparing."""

        def near(piece: slice) -> NDArray[np.bool_]:
            return self.differing(first[piece], second[piece]) <= self._most

        cut = pieces(np.ones(len(first), np.int64), BLOCK_DOCUMENTS)
        found = [np.empty(0, np.bool_), *in_order(near, cut, self._threads)]
        kept = np.concatenate(found)
        return first[kept], second[kept]
