"""The check of a candidate before its documents are looked at: 256 bits of two sketches.

By hyperplanes these are a sketch's first bits, each of which differs with the same chance. Of a
signature they are the two lowest bits of each of the first 128 rows: rows that agree, agree in
both; of rows that differ, either bit does so by chance.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CHECK_BITS", "CHECK_ROWS", "MISSED", "most_differing", "passing"]

CHECK_BITS = 256
CHECK_ROWS = 128
"""Rows of a signature whose two lowest bits are compared."""
MISSED = 0.2
"""Of the misses that a recall allows, the share that dismissing pairs at the threshold may take."""
LEAST_MISSED = 1e-9
"""Chance that is as good as none, where a recall allows no more."""
LEAST_DIFFERING = 4
"""Bits in which vectors of the same direction may differ by rounding, and some more."""


@cache
def most_differing(metric: str, agreement: float, recall: float) -> int:
    """Give the fewest bits in which a pair at the threshold, by its agreement, rarely differs more.

    An agreement is the chance that two sketches have the same bit, or the same minhash, in a row.
    """
    allowed = max(MISSED * (1 - recall), LEAST_MISSED)
    most = LEAST_DIFFERING
    while most < CHECK_BITS and 1 - passing(metric, most, agreement)[0] > allowed:
        most += 1
    return most


def passing(metric: str, most: int, agreement: ArrayLike) -> NDArray[np.float64]:
    """Tell how likely pairs differ in at most so many bits."""
    if metric == "cosine":
        rows = CHECK_BITS
        near = np.arange(CHECK_BITS + 1) <= most
    else:
        rows = CHECK_ROWS
        near = np.array([_tosses(2 * differing, most) for differing in range(CHECK_ROWS + 1)])
    # How likely 0, 1, … rows differ, by logarithms; SciPy's take half a second to load.
    same = np.clip(np.atleast_1d(np.asarray(agreement, np.float64)), 1e-12, 1 - 1e-12)[:, None]
    differing = np.arange(rows + 1)
    ways = np.array([math.log(math.comb(rows, k)) for k in differing.tolist()])
    logs = ways + differing * np.log1p(-same) + (rows - differing) * np.log(same)
    found: NDArray[np.float64] = np.minimum(np.exp(logs) @ near, 1.0)
    return found


@cache
def _tosses(coins: int, most: int) -> float:
    """Tell how likely at most so many of some coins show heads."""
    ways = sum(math.comb(coins, k) for k in range(min(most, coins) + 1))
    return ways / (1 << coins)
