"""How many elements every two of a few sets share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.kernels import shared_counts as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.text.shingles import Sets

__all__ = ["shared_counts"]

STRETCH_ELEMENTS = 1 << 12
"""Elements, about, that are looked up in one small table."""
BOUNDS_SAMPLE = 1 << 14
"""Elements by which the bounds of such stretches are chosen."""


def shared_counts(sets: Sets) -> NDArray[np.int64]:
    """Count the elements that every two sets share, above the diagonal of a matrix.

    Random documents share few shingles, so that looking up which sets have an element is much
    faster than merging every two.
    """
    elements = sets.elements
    some = np.sort(elements[:: 1 + len(elements) // BOUNDS_SAMPLE])
    bounds = some[:: 1 + len(some) * STRETCH_ELEMENTS // max(len(elements), 1)][1:]
    most = kernels.largest_stretch(elements, sets.offsets, bounds)
    bits = int(2 * most).bit_length()
    table = np.empty(1 << bits, np.uint64), np.full(1 << bits, -1, np.int32)
    entries = np.empty(most, np.int32), np.empty(most, np.int32)
    counts = np.zeros((len(sets), len(sets)), np.int64)
    shift = np.uint64(64 - bits)
    kernels.shared_counts(elements, sets.offsets, bounds, *table, *entries, shift, counts)
    return counts
