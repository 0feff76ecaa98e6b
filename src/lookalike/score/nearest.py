"""The most similar pair below the threshold: what a search that found nothing came closest to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    MayPair = Callable[[Rows, Rows], NDArray[np.bool_] | None]

__all__ = ["Below", "Nearest", "NearestPair"]


class NearestPair(NamedTuple):
    """Two documents by their places, the smaller first."""

    similarity: float
    first: int
    second: int


class Below(Protocol):
    """What hears of pairs below the threshold."""

    @property
    def least(self) -> float:
        """The similarity under which a pair need not be offered."""

    def offer(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        similarity: NDArray[np.float64],
    ) -> None:
        """Take note of pairs that were compared and are below the threshold."""

    def among(self, places: NDArray[np.int64]) -> Below:
        """Give one that is offered pairs by their places in `places`."""


class Nearest:
    """The most similar of all pairs that are offered, whatever their order; of equals the first."""

    def __init__(
        self,
        known: list[Any] | None = None,
        *,
        fixed: int = 0,
        may_pair: MayPair | None = None,
    ) -> None:
        """Begin, or go on from what `plain` gave.

        Two documents of the first `fixed` places are no pair: they are those of a reference.
        `may_pair` tells which pairs count, or None where all do.
        """
        self._may_pair = may_pair
        self.found = None if known is None else NearestPair(*known)
        self._fixed = fixed
        self._lock = threading.Lock()

    @property
    def least(self) -> float:
        """The similarity under which a pair need not be offered."""
        return 0.0 if self.found is None else self.found.similarity

    def offer(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        similarity: NDArray[np.float64],
    ) -> None:
        """Take note of pairs that were compared and are below the threshold."""
        high = np.flatnonzero((similarity >= self.least) & (similarity > 0))
        left, right = np.minimum(first[high], second[high]), np.maximum(first[high], second[high])
        counted = right >= self._fixed
        allowed = None if self._may_pair is None else self._may_pair(left, right)
        if allowed is not None:
            counted &= allowed
        high, left, right = high[counted], left[counted], right[counted]
        if not len(high):
            return
        best = np.lexsort((right, left, -similarity[high]))[0]
        pair = NearestPair(float(similarity[high][best]), int(left[best]), int(right[best]))
        with self._lock:
            if self.found is None or _order(pair) < _order(self.found):
                self.found = pair

    def among(self, places: NDArray[np.int64]) -> Below:
        """Give one that is offered pairs by their places in `places`."""
        return _Among(self, places)

    def plain(self) -> list[Any] | None:
        """Give what was found as plain values, for a checkpoint."""
        return None if self.found is None else list(self.found)


class _Among(NamedTuple):
    all: Below
    places: NDArray[np.int64]

    @property
    def least(self) -> float:
        return self.all.least

    def offer(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        similarity: NDArray[np.float64],
    ) -> None:
        self.all.offer(self.places[first], self.places[second], similarity)

    def among(self, places: NDArray[np.int64]) -> Below:
        return _Among(self, places)


def _order(pair: NearestPair) -> tuple[float, int, int]:
    return -pair.similarity, pair.first, pair.second
