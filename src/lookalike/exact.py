"""Every pair at or above the threshold, without sketches: the answer with recall 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import SettingsError
from lookalike.kernels import exact as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.shingle import Sets

__all__ = ["exact_candidates"]


def exact_candidates(
    sets: Sets,
    *,
    threshold: float,
    block: int = 1 << 20,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give pairs of sets, each once, among them all whose similarity reaches the threshold.

    `progress` is told how many sets are done, and of how many.
    """
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"threshold {threshold} with recall 1: use one above 0, or every pair would be similar"
        )
    ranks = _by_rarity(sets)
    filled = np.flatnonzero(sets.sizes())
    order = filled[np.argsort(sets.sizes()[filled], kind="stable")]
    newest = np.full(int(ranks.max(initial=-1)) + 1, -1, np.int64)
    older = np.empty(len(ranks), np.int64)
    members = np.empty(len(ranks), np.int64)
    marks = np.full(len(sets), -1, np.int64)
    state = np.zeros(2, np.int64)
    room = max(block, len(order))
    while state[0] < len(order):
        first, second = np.empty(room, np.int64), np.empty(room, np.int64)
        written = kernels.join(
            ranks,
            sets.offsets,
            order,
            threshold,
            newest,
            older,
            members,
            marks,
            state,
            first,
            second,
        )
        yield first[:written], second[:written]
        if progress:
            progress(int(state[0]), len(order))


def _by_rarity(sets: Sets) -> NDArray[np.int64]:
    """Give each element its rank among all, the rarest first, and sort each set by it."""
    _, inverse, counts = np.unique(sets.elements, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    ranks = rank[inverse]
    owner = np.repeat(np.arange(len(sets)), sets.sizes())
    return ranks[np.lexsort((ranks, owner))]
