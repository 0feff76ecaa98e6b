"""Every pair at or above the threshold, without sketches: the answer with recall 1.

Two similar sets share one of their rarest elements, so that only those are looked up. For vectors
there is no such way: every two are multiplied, by the fastest means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.candidates.pairing import REFERENCE, SOURCE, other_sides
from lookalike.kernels import exact_join as kernels
from lookalike.kernels import weighted_shingles
from lookalike.text.shared_counts import shared_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.text.shingles import Sets
    from lookalike.text.weighted_shingles import WeightedSets

    Blocks = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]
    Progress = Callable[[int, int], None]

__all__ = [
    "are_few",
    "counted_candidates",
    "exact_candidates",
    "near_vectors",
    "near_weighted_sets",
    "similar_sets",
]

FEW_SETS, MAX_COUNTED_ELEMENTS = 256, 1 << 30
"""Sets that are compared by counting what every two share, and pairs of set and element in them."""
TILE_VECTORS = 2048
"""Vectors that are multiplied with as many at a time."""
ROUNDING = 1e-4
"""How far below the threshold a product of 32-bit numbers is looked at again."""


def are_few(sets: Sets) -> bool:
    """Tell whether to count what every two sets share is the cheaper way to compare them."""
    return len(sets) <= FEW_SETS and len(sets) * len(sets.elements) <= MAX_COUNTED_ELEMENTS


def similar_sets(
    sets: Sets,
    *,
    threshold: float,
    sides: NDArray[np.uint8] | None = None,
    progress: Progress | None = None,
    count: Callable[[Sets], NDArray[np.int64]] = shared_counts,
) -> Blocks:
    """Give pairs of sets, each once, among them all at the threshold, in the cheaper way.

    With `sides`, the corpora in which each set stands, only pairs across the two are given. `count`
    is what counts the elements that every two of a few sets share.
    """
    if are_few(sets):
        return counted_candidates(
            sets, threshold=threshold, sides=sides, progress=progress, count=count
        )
    return exact_candidates(sets, threshold=threshold, sides=sides, progress=progress)


def counted_candidates(
    sets: Sets,
    *,
    threshold: float,
    sides: NDArray[np.uint8] | None = None,
    progress: Progress | None = None,
    count: Callable[[Sets], NDArray[np.int64]] = shared_counts,
) -> Blocks:
    """Give the pairs of a few sets by counting what every two share."""
    _check(threshold)
    sizes = sets.sizes()
    shared = count(sets)
    # A little low, for the rounding of products; the exact check has the word.
    least = threshold * (sizes[:, None] + sizes - shared) - 1e-9
    found = (shared > 0) & (shared >= least)
    if sides is not None:
        found &= (sides[:, None] & other_sides(sides)) != 0
    first, second = np.nonzero(found)
    if len(first):
        yield first, second
    if progress:
        progress(len(sets), len(sets))


def exact_candidates(
    sets: Sets,
    *,
    threshold: float,
    sides: NDArray[np.uint8] | None = None,
    block: int = 1 << 20,
    progress: Progress | None = None,
) -> Blocks:
    """Give pairs of sets, each once, among them all whose Jaccard similarity is at the threshold.

    Two sets of similarity t or more share an element among the first |x| - t|x| + 1 of the larger
    and the first |y| - 2t/(1+t)|y| + 1 of the smaller, and the smaller has t|x| elements or more.
    With `sides`, the corpora in which each set stands, only pairs across the two are given.
    `progress` is told how many sets are done, and of how many.
    """
    _check(threshold)
    sizes = sets.sizes()
    # Bounds are taken a little low, for the rounding of products; the exact check has the word.
    safe = threshold * (1.0 - 1e-12)
    min_sizes = np.maximum(np.ceil(safe * sizes - 1e-9), 1).astype(np.int64)
    shared = np.maximum(np.ceil(2.0 * safe / (1.0 + safe) * sizes - 1e-9), 1).astype(np.int64)
    ranks = _by_rarity(sets.elements)
    owner = np.repeat(np.arange(len(sets)), sizes)
    ranks = ranks[np.lexsort((ranks, owner))]
    order = np.flatnonzero(sizes)
    # Smallest first, so that the latest entry of an element is that of the largest set.
    order = order[np.argsort(sizes[order], kind="stable")]
    probe_lengths, index_lengths = sizes - min_sizes + 1, sizes - shared + 1
    bounds = probe_lengths, index_lengths, min_sizes
    yield from _joined(ranks, sets.offsets, order, bounds, sides, block, progress)


def near_weighted_sets(
    weighted_sets: WeightedSets,
    *,
    threshold: float,
    sides: NDArray[np.uint8] | None = None,
    block: int = 1 << 20,
    progress: Progress | None = None,
) -> Blocks:
    """Give pairs of weighted sets, each once, among them all whose cosine is at the threshold.

    The rarest features of each set, so many that the rest of it is shorter than t of its length,
    are its prefix. Where no feature stands in both prefixes, all that two sets share lies in the
    rest of one of them, and their cosine is below t.
    """
    _check(threshold)
    ranks = _by_rarity(weighted_sets.features)
    owner = np.repeat(np.arange(len(weighted_sets)), weighted_sets.sizes())
    by_rank = np.lexsort((ranks, owner))
    prefixes = np.empty(len(weighted_sets), np.int64)
    safe = (threshold * (1.0 - 1e-9)) ** 2
    weighted_shingles.prefixes(
        weighted_sets.weights[by_rank], weighted_sets.offsets, safe, prefixes
    )
    order = np.flatnonzero(weighted_sets.sizes())
    bounds = prefixes, prefixes, np.zeros(len(weighted_sets), np.int64)
    yield from _joined(ranks[by_rank], weighted_sets.offsets, order, bounds, sides, block, progress)


def near_vectors(
    vectors: NDArray[np.float32],
    *,
    threshold: float,
    sides: NDArray[np.uint8] | None = None,
    progress: Progress | None = None,
) -> Blocks:
    """Give pairs of vectors of length 1, each once, among them all whose cosine is at a threshold.

    Every two are multiplied, which takes time that grows with the square of their number; with
    `sides`, the corpora in which each stands, every two of which one is of each.
    """
    _check(threshold)
    if sides is not None:
        yield from _near_across(vectors, threshold, sides, progress)
        return
    lowest = np.float32(threshold - ROUNDING)
    # The same room for all tiles: the first touch of fresh memory costs as much as the product.
    products = np.empty(TILE_VECTORS * TILE_VECTORS, np.float32)
    high = np.empty(TILE_VECTORS * TILE_VECTORS, np.bool_)
    for start in range(0, len(vectors), TILE_VECTORS):
        mine = vectors[start : start + TILE_VECTORS]
        for other in range(start, len(vectors), TILE_VECTORS):
            others = vectors[other : other + TILE_VECTORS]
            size, shape = len(mine) * len(others), (len(mine), len(others))
            product = products[:size].reshape(shape)
            found = high[:size].reshape(shape)
            np.matmul(mine, others.T, out=product)
            np.greater_equal(product, lowest, out=found)
            if other == start:
                found = np.triu(found, 1)
            first, second = np.nonzero(found)
            if len(first):
                yield first + start, second + other
        if progress:
            progress(min(start + TILE_VECTORS, len(vectors)), len(vectors))


def _near_across(
    vectors: NDArray[np.float32],
    threshold: float,
    sides: NDArray[np.uint8],
    progress: Progress | None,
) -> Blocks:
    """Multiply the vectors of one corpus with those of the other."""
    lowest = np.float32(threshold - ROUNDING)
    mine, others = (np.flatnonzero(sides & side) for side in (SOURCE, REFERENCE))
    for start in range(0, len(mine), TILE_VECTORS):
        left = mine[start : start + TILE_VECTORS]
        for other in range(0, len(others), TILE_VECTORS):
            right = others[other : other + TILE_VECTORS]
            first, second = np.nonzero(vectors[left] @ vectors[right].T >= lowest)
            first, second = left[first], right[second]
            # Two that stand in both corpora meet twice, and each of them itself.
            once = (first < second) | (sides[first] != sides[second])
            first, second = first[once], second[once]
            if len(first):
                yield np.minimum(first, second), np.maximum(first, second)
        if progress:
            progress(min(start + TILE_VECTORS, len(mine)), len(mine))


def _check(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"{setting('threshold', threshold)} with {setting('recall', 1)}: use one above 0, or "
            "every pair would be similar"
        )


def _joined(
    ranks: NDArray[np.int64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    bounds: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    sides: NDArray[np.uint8] | None,
    block: int,
    progress: Progress | None,
) -> Blocks:
    one_list = np.ones(len(offsets) - 1, np.uint8)
    kept = one_list if sides is None else sides
    probed = one_list if sides is None else other_sides(sides)
    lists = 1 if sides is None else 2
    newest = np.full((lists, int(ranks.max(initial=-1)) + 1), -1, np.int64)
    entries = int((bounds[1] * np.bitwise_count(kept)).sum())
    older, members = np.empty(entries, np.int64), np.empty(entries, np.int64)
    marks = np.full(len(offsets) - 1, -1, np.int64)
    state = np.zeros(2, np.int64)
    size = max(block, len(order))
    while state[0] < len(order):
        first, second = np.empty(size, np.int64), np.empty(size, np.int64)
        written = kernels.join(
            *(ranks, offsets, order, *bounds, probed, kept, newest, older, members, marks, state),
            *(first, second),
        )
        yield first[:written], second[:written]
        if progress:
            progress(int(state[0]), len(order))


def _by_rarity(elements: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Give each element its rank among all, the rarest first."""
    _, inverse, counts = np.unique(elements, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    return rank[inverse]
