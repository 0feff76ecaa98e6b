"""Fingerprints of 64 bits within a Hamming distance of each other: all of them, by blocks.

Cut the bits into m blocks. Two fingerprints that differ in at most d bits differ in at most d
blocks and agree in the other m - d, so that a table for each choice of m - d blocks has every such
pair in one of its buckets.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lookalike.sketches.hyperplanes import FINGERPRINT_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BITS", "bits_apart", "block_keys", "block_masks", "distances", "expected_meetings"]

BITS = FINGERPRINT_BITS
MAX_TABLES = 64

# Measured, in nanoseconds on one core; only their ratio matters.
TABLE_COST = 150.0  # of one document in one table
PAIR_COST = 15.0  # of one pair that meets in a bucket
BIT_AGREEMENT = 0.55
"""How likely two random documents agree in a bit: a little more than by chance."""


def block_masks(distance: int, documents: int) -> list[np.uint64]:
    """Choose the tables of least expected cost for so many documents: the bits that each looks at.

    Few large blocks make few tables with many chance meetings, many small blocks the reverse.
    """
    best: tuple[float, list[np.uint64]] | None = None
    for blocks in range(distance + 1, BITS + 1):
        if best is not None and math.comb(blocks, distance) > MAX_TABLES:
            break
        masks = _masks(blocks, distance)
        met = expected_meetings(masks, documents)
        cost = documents * TABLE_COST * len(masks) + PAIR_COST * met
        if best is None or cost < best[0]:
            best = cost, masks
    return [] if best is None else best[1]


def expected_meetings(masks: list[np.uint64], documents: int) -> float:
    """Tell how many random pairs of so many documents meet in the tables."""
    pairs = documents * (documents - 1) / 2
    return pairs * sum(BIT_AGREEMENT ** int(mask).bit_count() for mask in masks)


def _masks(blocks: int, distance: int) -> list[np.uint64]:
    ends = [BITS * number // blocks for number in range(blocks + 1)]
    parts = [(1 << ends[i + 1]) - (1 << ends[i]) for i in range(blocks)]
    chosen = combinations(parts, blocks - distance)
    return [np.uint64(sum(one)) for one in chosen]


def block_keys(prints: NDArray[np.uint64], masks: list[np.uint64]) -> NDArray[np.uint64]:
    """Give the key of each fingerprint in each table, a row a table."""
    return np.array(masks, np.uint64)[:, None] & prints[None, :]


def distances(
    prints: NDArray[np.uint64], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the bits in which the fingerprints of each pair differ."""
    apart: NDArray[np.int64] = np.bitwise_count(prints[first] ^ prints[second]).astype(np.int64)
    return apart


def bits_apart(cosine: float | NDArray[np.float64]) -> NDArray[np.int64]:
    """Give back the distance of fingerprints by the cosine that it was scored as."""
    found: NDArray[np.int64] = np.rint(np.arccos(cosine) / np.pi * BITS).astype(np.int64)
    return found
