"""The prefilter: 256 bits of two sketches, compared before the documents are.

By hyperplanes these are a sketch's first bits, each of which differs with the same chance. Of a
signature they are two bits of each of the first 128 rows: rows that agree, agree in both; of rows
that differ, either bit does so by chance.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MIN_DIFFERING_BITS",
    "PREFILTER_BITS",
    "PREFILTER_ROWS",
    "failing_by_bits",
    "passing",
    "passing_by_rows",
]

PREFILTER_BITS = 256
PREFILTER_ROWS = 128
"""Rows of a signature of which two bits each are compared."""
MIN_DIFFERING_BITS = 4
"""Bits in which vectors of the same direction may differ by rounding, and some more."""


@cache
def passing_by_rows(max_differing: int) -> NDArray[np.float64]:
    """Tell how likely signatures that agree in 0, 1, … 128 rows differ in at most so many bits."""
    differing = range(PREFILTER_ROWS, -1, -1)
    return np.array([_heads_at_most(2 * rows, max_differing) for rows in differing])


def _heads_at_most(coins: int, max_differing: int) -> float:
    ways = sum(math.comb(coins, heads) for heads in range(min(max_differing, coins) + 1))
    return ways / (1 << coins)


def binomials(trials: int, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give, a row a chance, how likely 0, 1, … of so many trials succeed."""
    likely = np.clip(chances, 1e-300, 1 - 1e-16)[:, None]
    successes = np.arange(trials + 1)
    # By logarithms; SciPy's own take half a second to load.
    logs = _log_ways(trials) + successes * np.log(likely) + (trials - successes) * np.log1p(-likely)
    found: NDArray[np.float64] = np.exp(logs)
    return found


@cache
def _log_ways(trials: int) -> NDArray[np.float64]:
    return np.array([math.log(math.comb(trials, k)) for k in range(trials + 1)])


def failing_by_bits(agreements: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give, a row a chance that a bit agrees, how likely more than 0, 1, … 256 bits differ."""
    differing = binomials(PREFILTER_BITS, 1 - agreements)
    # Summed from the unlikely end, so that small chances keep their digits.
    beyond = np.cumsum(differing[:, :0:-1], axis=1)[:, ::-1]
    return np.append(np.minimum(beyond, 1.0), np.zeros((len(beyond), 1)), axis=1)


def passing(
    metric: str, max_differing: int, agreements: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Tell how likely pairs whose rows or bits agree so likely differ in at most so many bits."""
    if metric == "cosine":
        return 1 - failing_by_bits(agreements)[:, max_differing]
    return np.minimum(binomials(PREFILTER_ROWS, agreements) @ passing_by_rows(max_differing), 1.0)
