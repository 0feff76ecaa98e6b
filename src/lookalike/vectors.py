"""Vectors as documents: at length 1, as bytes, so that equal directions are identical."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import SourceError
from lookalike.kernels import hyperplanes as kernels
from lookalike.kernels import normalise as normalising
from lookalike.normalise import Canonical
from lookalike.randomness import GOLDEN, mixed

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["InvalidVectorError", "canonical_sparse", "canonical_vectors", "dimension_of", "matrix"]


NOT_FINITE = "holds a number that is not finite"
ZERO = "is zero and has no direction"


class InvalidVectorError(SourceError):
    """A vector that has no direction, or another length than the others."""

    def __init__(self, row: int, reason: str) -> None:
        """Keep the row of the vector, and what is wrong with it."""
        super().__init__(f"vector {row + 1} {reason}: mend or remove it")
        self.row = row
        self.reason = reason


def dimension_of(lists: pa.Array) -> int | None:
    """Give the numbers of the first vector, None where there is none."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(lists).drop_null()
    return lengths[0].as_py() if len(lengths) else None


def canonical_vectors(lists: pa.Array, dimension: int) -> Canonical:
    """Make documents of an Arrow array of lists of floats: 32-bit numbers, at length 1.

    A null is an empty document. Raises InvalidVectorError for the first that is ragged, not finite
    or zero.
    """
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), -1).to_numpy(zero_copy_only=False)
    present = np.flatnonzero(lengths >= 0)
    ragged = present[lengths[present] != dimension]
    if len(ragged):
        row = int(ragged[0])
        # One before it may be wrong in another way, and is then the first.
        canonical_vectors(lists[:row], dimension)
        raise InvalidVectorError(
            row, f"has {lengths[row]:,} numbers, where the first has {dimension:,}"
        )
    if dimension == 0 and len(present):
        raise InvalidVectorError(int(present[0]), "has no numbers")
    numbers = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    values = numbers.reshape(-1, dimension) if len(present) else np.empty((0, 1))
    units = np.empty(values.shape, np.float32)
    kinds = np.empty(len(values), np.uint8)
    kernels.unit_vectors(values, units, kinds)
    if (wrong := np.flatnonzero(kinds)).size:
        kind, row = int(kinds[wrong[0]]), int(present[wrong[0]])
        raise InvalidVectorError(row, NOT_FINITE if kind == 1 else ZERO)
    return _canonical(units.reshape(-1).view(np.uint8), 4 * dimension * (lengths >= 0))


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
        row = int(wrong[0])
        raise InvalidVectorError(row, ZERO if largest[row] == 0 else NOT_FINITE)
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
    fingerprints = np.empty((len(lengths), 2), np.uint64)
    normalising.fingerprints(data, offsets, fingerprints)
    return Canonical(data, offsets, fingerprints)


def matrix(documents: Canonical, dimension: int) -> NDArray[np.float32]:
    """Give the vectors of documents that are all there, a row each, without a copy."""
    return documents.data.view(np.float32).reshape(-1, dimension)
