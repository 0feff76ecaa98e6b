"""Vectors as documents: their numbers as bytes, scaled so that twice a vector is the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import InvalidVectorError
from lookalike.base.randomness import GOLDEN, mixed
from lookalike.kernels import hyperplanes as kernels
from lookalike.text.normalise import Canonical, fingerprints_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["canonical_sparse", "canonical_vectors", "dimension_of", "matrix"]


NOT_FINITE = "holds a number that is not finite"
ZERO = "is zero and has no direction"


def dimension_of(lists: pa.Array) -> int | None:
    """Give the numbers of the first vector that has any, None where there is none."""
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    filled = np.flatnonzero(lengths)
    return int(lengths[filled[0]]) if len(filled) else None


def canonical_vectors(lists: pa.Array, dimension: int) -> Canonical:
    """Make documents of an Arrow array of lists of floats: 32-bit numbers, scaled.

    Scaled by a power of two so that the largest number is from 1 to 2, which rounds nothing. A null
    is an empty document. Raises InvalidVectorError for those that are ragged, not finite or zero.
    """
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), -1).to_numpy(zero_copy_only=False)
    present = np.flatnonzero(lengths >= 0)
    straight = lengths[present] == dimension
    wrong = {
        row: f"has {lengths[row]:,} numbers, where the first has {dimension:,}"
        if lengths[row]
        else "has no numbers"
        for row in present[~straight | (lengths[present] == 0)].tolist()
    }
    rows = present[straight]
    numbers = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if len(rows) < len(present):
        numbers = numbers[np.repeat(straight, lengths[present])]
    values = numbers.reshape(len(rows), dimension) if dimension else np.empty((0, 1))
    scaled = np.empty(values.shape, np.float32)
    kinds = np.zeros(len(values), np.uint8)
    kernels.scaled_vectors(values, scaled, kinds)
    for at in np.flatnonzero(kinds).tolist():
        wrong[int(rows[at])] = NOT_FINITE if kinds[at] == 1 else ZERO
    if wrong:
        raise InvalidVectorError(sorted(wrong.items()))
    return _canonical(scaled.reshape(-1).view(np.uint8), 4 * dimension * (lengths >= 0))


def canonical_sparse(lists: pa.Array) -> Canonical:
    """Make documents of an Arrow array of lists of places and numbers.

    Each number is a feature, a mixed word of its place, and its value as 64 bits, in the order of
    the features; scaled by a power of two so that the largest is from 1 to 2.
    """
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    flat = lists.flatten()
    places = flat.field("index").to_numpy(zero_copy_only=False).astype(np.uint64)
    values = flat.field("value").to_numpy(zero_copy_only=False).astype(np.float64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    largest = np.zeros(len(lengths))
    np.maximum.at(largest, owner, np.where(np.isnan(values), np.inf, np.abs(values)))
    present = lists.is_valid().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(present & ~((largest > 0) & np.isfinite(largest)))
    if len(wrong):
        reasons = [(row, ZERO if largest[row] == 0 else NOT_FINITE) for row in wrong.tolist()]
        raise InvalidVectorError(reasons)
    kept = np.flatnonzero(values)
    places, values, owner = places[kept], values[kept], owner[kept]
    features = mixed((places + np.uint64(1)) * GOLDEN)
    order = np.lexsort((features, owner))
    words = np.empty((len(places), 2), np.uint64)
    words[:, 0] = features[order]
    # By a power of two, which rounds nothing.
    scaled = np.ldexp(values, 1 - np.frexp(largest)[1][owner])
    words[:, 1] = scaled[order].view(np.uint64)
    sizes = np.bincount(owner, minlength=len(lengths))
    return _canonical(words.reshape(-1).view(np.uint8), 16 * sizes)


def _canonical(data: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Canonical:
    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    return Canonical(data, offsets, fingerprints_of(data, offsets))


def matrix(documents: Canonical, dimension: int) -> NDArray[np.float32]:
    """Give the vectors of documents that are all there, a row each, without a copy."""
    return documents.data.view(np.float32).reshape(-1, dimension)
