"""Which bands and rows are the cheapest for a corpus, or fit a length the best."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.planning.curves import Cascade, Distribution, equal_bits, errors
from lookalike.planning.recall import BitPath, RowPath
from lookalike.sketches.hyperplanes import FOLDED_SIZE, transform_size
from lookalike.sketches.minhash import BLOCK_ROWS
from lookalike.sketches.prefilter import PREFILTER_ROWS, passing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lookalike.planning.sampling import Background

__all__ = [
    "AT_ONCE",
    "MAX_BITS",
    "MAX_GIVEN_ROWS",
    "MAX_ROWS",
    "STORED",
    "Costs",
    "agreement_of",
    "cheapest",
    "cheapest_bits",
    "fitting",
    "pairs_passed",
    "pairs_seen",
    "path_of",
]

MAX_ROWS = 4096
"""Rows of a signature that a plan may ask for."""
MAX_BITS = 1 << 14
"""Bits of a sketch that a plan may ask for."""
MAX_GIVEN_ROWS = 1 << 16
"""Rows or bits that a user may."""

# Measured, in nanoseconds on one core; only their ratios matter.
BLOCK_COST = 250.0  # a block of 128 rows of one document's signature, whatever its shingles
SPREAD_COST = 2.0  # a shingle, for each block of 128 rows
FILL_COST = 0.05  # a shingle, for each row that no round reached
PAIR_COST = 2000.0  # a candidate, before its shingles are looked at
SHINGLE_COST = 30.0  # a shingle of a candidate: hashed, sorted, merged
BIT_COST = 4.0  # a bit of one document's sketch
NUMBER_COST = 1.5  # a number of a vector of a candidate


class Costs(NamedTuple):
    """What differs between documents that are compared at once and those in an index."""

    band: float
    """A band of one document: key, on disk and back, sort, bucket."""
    bit_band: float
    """A band of bits of one document."""
    meeting: float
    """A candidate whose sketches are compared first."""
    crowded: float
    """The same in a bucket that very many share."""


AT_ONCE = Costs(150.0, 70.0, 8.0, 8.0)
STORED = Costs(8000.0, 8000.0, 3000.0, 300.0)
"""A row of a database for each band, and a look at one for each candidate; crowds are packed."""


def agreement_of(metric: str, similarity: float) -> float:
    """Tell how likely two documents of a similarity agree in a row, or a bit."""
    return equal_bits(similarity) if metric == "cosine" else similarity


def path_of(metric: str, similarity: float, background: Background) -> RowPath | BitPath:
    """Give the way that a pair of a similarity has to go."""
    if metric != "cosine":
        return RowPath(similarity)
    size = transform_size(int(background.shingles)) if background.dense else FOLDED_SIZE
    return BitPath(similarity, size=size, folded=not background.dense)


def pairs_seen(metric: str, background: Background, pairs: float) -> Distribution:
    """Give so many random pairs by how likely they agree in a row."""
    similarities, shares = background.weighed()
    seen = np.asarray(equal_bits(similarities) if metric == "cosine" else similarities, np.float64)
    return Distribution(seen, shares * pairs)


def pairs_passed(metric: str, seen: Distribution, max_differing: int) -> Distribution:
    """Give the pairs that differ in at most so many of the bits that are compared first."""
    passed = passing(metric, max_differing, seen.similarities)
    return Distribution(seen.similarities, seen.weights * passed)


def _bands_needed(path: RowPath | BitPath, agreement: float, recall: float, rows: int) -> int:
    """Give the fewest bands of so many rows by which a path, prefilter included, has the recall."""
    max_differing, allowed = path.prefilter(recall), 1 - recall
    shared = agreement**rows
    if allowed >= 1 or shared >= 1:
        return 1

    def is_enough(bands: int) -> bool:
        return (
            path.chance(Cascade.banding(bands, rows), max_differing=max_differing).missed <= allowed
        )

    # By the bands alone there would be no fewer.
    fewest = max(1, math.ceil(math.log(allowed) / math.log1p(-shared) - 1e-9))
    end = fewest
    while not is_enough(end):
        end += max(1, end // 8)
        if end * rows > MAX_GIVEN_ROWS:
            return end
    choices = range(fewest, end + 1)
    return choices[bisect_left(choices, True, key=is_enough)]


def cheapest(
    threshold: float, recall: float, documents: int, background: Background, costs: Costs
) -> Cascade:
    """Choose bands of rows: a candidate is dismissed by its signature, unless it is similar."""
    path = path_of("jaccard", threshold, background)
    seen = pairs_seen("jaccard", background, documents * (documents - 1) / 2)
    passed = pairs_passed("jaccard", seen, path.prefilter(recall))
    checking = PAIR_COST + SHINGLE_COST * background.shingles

    def sketching(banding: Cascade) -> float:
        blocks = -(-max(banding.rows, PREFILTER_ROWS) // BLOCK_ROWS)
        filled = banding.rows * math.exp(-background.shingles / BLOCK_ROWS)
        each = BLOCK_COST * blocks
        each += background.shingles * (SPREAD_COST * blocks + FILL_COST * filled)
        return documents * (each + costs.band * (banding.bands or 0))

    def comparing(banding: Cascade) -> float:
        meeting = errors(banding, threshold, seen).false_candidates
        compared = errors(banding, threshold, passed).false_candidates
        return meeting * _cost_of_meeting(costs, background, banding) + compared * checking

    def bands(rows: int) -> int:
        return _bands_needed(path, threshold, recall, rows)

    best = _cheaper(_bandings(threshold, recall, MAX_ROWS, bands), sketching, comparing)
    if best is None:
        raise SettingsError(
            f"{setting('threshold', threshold)} with {setting('recall', recall)} needs more than "
            f"{MAX_ROWS:,} rows: raise {setting('threshold')}, or use {setting('recall', 1)} for "
            "the exact join"
        )
    return best


def cheapest_bits(
    threshold: float, recall: float, documents: int, background: Background, costs: Costs
) -> Cascade:
    """Choose bands of bits: a candidate is dismissed by its sketch, unless it is similar."""
    path = path_of("cosine", threshold, background)
    seen = pairs_seen("cosine", background, documents * (documents - 1) / 2)
    agreement = equal_bits(threshold)
    passed = pairs_passed("cosine", seen, path.prefilter(recall))
    checking = PAIR_COST + SHINGLE_COST * background.shingles
    if background.dense:
        checking = NUMBER_COST * background.shingles

    def sketching(banding: Cascade) -> float:
        return documents * (BIT_COST * banding.rows + costs.bit_band * (banding.bands or 0))

    def comparing(banding: Cascade) -> float:
        meeting = errors(banding, agreement, seen).false_candidates
        compared = errors(banding, agreement, passed).false_candidates
        return meeting * costs.meeting + compared * checking

    def bands(rows: int) -> int:
        return _bands_needed(path, agreement, recall, rows)

    # A half of all bits agree at any threshold, so that one bit a band is always enough.
    best = _cheaper(_bandings(agreement, recall, MAX_BITS, bands), sketching, comparing)
    return best or Cascade.banding(bands(1), 1)


def _cost_of_meeting(costs: Costs, background: Background, banding: Cascade) -> float:
    """Tell what a candidate costs on average, as crowds were measured for bands of so many rows."""
    shares, rows = background.crowded, banding.rows // (banding.bands or 1)
    crowded = shares[rows - 1] if rows <= len(shares) else 0.0
    return crowded * costs.crowded + (1 - crowded) * costs.meeting


def _bandings(
    agreement: float, recall: float, max_rows: int, bands: Callable[[int], int]
) -> Iterator[Cascade]:
    """Give the bandings of so many rows that reach the recall, of at most `max_rows` in all."""
    for rows in range(1, 65):
        # Where s^r is nothing beside 1, the bands needed are past all bounds.
        if agreement**rows * max_rows < -math.log1p(-recall) * 0.5:
            return
        if (count := bands(rows)) * rows <= max_rows:
            yield Cascade.banding(count, rows)


def _cheaper(
    bandings: Iterable[Cascade],
    sketching: Callable[[Cascade], float],
    comparing: Callable[[Cascade], float],
) -> Cascade | None:
    """Give the banding of least cost; from one to the next sketching grows and comparing falls."""
    best: tuple[float, Cascade] | None = None
    for banding in bandings:
        spent = sketching(banding)
        if best is not None and spent > best[0]:
            break
        spent += comparing(banding)
        if best is None or spent < best[0]:
            best = spent, banding
    return None if best is None else best[1]


def fitting(threshold: float, signature: int, miss_weight: float) -> Cascade:
    """Give the banding of at most so many rows with the least weighted area of errors."""
    best: tuple[float, Cascade] | None = None
    for rows in range(1, signature + 1):
        banding = Cascade.banding(signature // rows, rows)
        wrong = errors(banding, threshold)
        cost = miss_weight * wrong.missed + (1 - miss_weight) * wrong.false_candidates
        if best is None or cost < best[0]:
            best = cost, banding
    if best is None:
        raise SettingsError(f"{setting('signature', signature)}: use at least 1 row")
    return best[1]
