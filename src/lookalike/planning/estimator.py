"""How far estimates of the similarity are off, by the number of rows: by theory, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.planning.checked import check_whole, unit_values
from lookalike.sketches.minhash import sign_sets, similarity
from lookalike.text.shingles import Sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["EstimatorError", "estimator_error"]

ROWS = (16, 32, 64, 128, 256, 512, 1024)
MAX_ROWS, MAX_PAIRS, MAX_SHINGLES = 1 << 14, 100_000, 1_000_000


@dataclass(frozen=True, eq=False)
class EstimatorError:
    """The standard error of estimates from so many rows, for each of some similarities."""

    rows: tuple[int, ...]
    similarities: tuple[float, ...]
    """As they are: shares of a whole number of shingles."""
    theory: NDArray[np.float64]
    """sqrt(s(1 - s)/k), a row for each similarity, a column for each number of rows."""
    measured: NDArray[np.float64]
    """The root of the mean squared error of the signatures of so many pairs."""
    pairs: int

    def plot(self, ax: Any = None) -> Any:
        """Draw both with Matplotlib, on axes that are given or on new ones, and give those."""
        from lookalike.base.plots.pictures import draw_error

        lines = [*zip(self.similarities, self.theory, self.measured, strict=True)]
        return draw_error(np.array(self.rows), lines, ax)


def estimator_error(
    similarities: Sequence[float] = (0.5, 0.8, 0.95),
    *,
    rows: Sequence[int] = ROWS,
    pairs: int = 200,
    shingles: int = 2000,
    seed: int = 1,
) -> EstimatorError:
    """Measure how far signatures estimate similarities off, on pairs whose similarity is known.

    Each of the `pairs` has so many `shingles` in one or the other, of which both have the share
    that is the similarity; the rest is split between them.
    """
    check_whole("pairs", pairs, example=200)
    check_whole("shingles", shingles, example=2000)
    if pairs > MAX_PAIRS:
        raise SettingsError(f"{pairs:,} pairs are too many: use at most {MAX_PAIRS:,}")
    if shingles > MAX_SHINGLES:
        raise SettingsError(f"{shingles:,} shingles are too many: use at most {MAX_SHINGLES:,}")
    for one in rows:
        check_whole("rows", one, example=128)
    if not len(rows) or max(rows) > MAX_ROWS:
        raise SettingsError(f"{setting('rows')}: use some numbers up to {MAX_ROWS:,}, as 128")
    asked = unit_values("a similarity", similarities)
    shared = np.rint(asked * shingles).astype(int)
    known = shared / shingles
    k = np.array(rows, np.float64)
    measured = np.empty((len(known), len(rows)))
    random = np.random.default_rng(seed)
    for place, (both, true) in enumerate(zip(shared, known, strict=True)):
        sets = _pairs(random, pairs, int(both), shingles)
        signatures = sign_sets(sets, rows=max(rows), seed=seed)
        for column, one in enumerate(rows):
            # The first rows of a signature are a signature.
            told = similarity(signatures[0::2, :one], signatures[1::2, :one])
            measured[place, column] = np.sqrt(np.mean((told - true) ** 2))
    theory = np.sqrt(known * (1 - known))[:, None] / np.sqrt(k)
    return EstimatorError(tuple(rows), tuple(map(float, known)), theory, measured, pairs)


def _pairs(random: np.random.Generator, pairs: int, both: int, shingles: int) -> Sets:
    """Make pairs of sets of random elements, one after the other, with so many in common."""
    half = both + (shingles - both) // 2
    made = []
    for _ in range(pairs):
        elements = random.integers(0, 1 << 61, shingles, dtype=np.uint64)
        made += [np.sort(elements[:half]), np.sort(np.delete(elements, np.s_[both:half]))]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in made])])
    return Sets(np.concatenate(made), offsets.astype(np.int64))
