"""From a threshold, a recall and a corpus to the bands and the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from lookalike.background import TYPICAL, Background
from lookalike.curves import Cascade, Distribution, errors
from lookalike.errors import SettingsError
from lookalike.wording import count, floor

if TYPE_CHECKING:
    from lookalike.settings import Settings

__all__ = ["Plan", "plan", "plan_for"]

MOST_ROWS = 4096
"""Rows of a signature that a plan may ask for."""
MOST_GIVEN = 1 << 16
"""Rows of a signature that a user may."""

# Measured, in nanoseconds on one core; only their ratios matter.
ROW_COST = 0.05  # a hash function on one shingle
BAND_COST = 150.0  # a band of one document: key, sort, bucket
PAIR_COST = 2000.0  # a candidate, before its shingles are looked at
SHINGLE_COST = 30.0  # a shingle of a candidate: hashed, sorted, merged


@dataclass(frozen=True)
class Plan:
    """How candidates are found, and how likely a pair of each similarity is to be one."""

    threshold: float
    recall: float
    """As asked for."""
    cascade: Cascade | None
    """None where every pair is found by the exact join."""
    origin: Literal["planned", "fitted", "given", "exact"]
    documents: int
    background: Background = field(repr=False)
    estimated: int = 0
    """The rows that scores are estimated from; 0 where they are exact."""
    shingle: str | None = None
    shingle_reason: str | None = None

    @property
    def bands(self) -> int | None:
        """The number of bands, where the cascade is a plain banding."""
        return self.cascade.bands if self.cascade else None

    @property
    def rows(self) -> int | None:
        """The rows of a band, where the cascade is a plain banding."""
        return self.cascade.rows_per_band if self.cascade else None

    @property
    def signature(self) -> int:
        """The rows of a whole signature."""
        return self.cascade.rows if self.cascade else 0

    def probability(self, similarity: float) -> float:
        """Tell how likely a pair of this similarity is to be found.

        By estimates, a pair must be a candidate and its estimate must reach the threshold.
        """
        if self.cascade is None:
            return float(similarity >= self.threshold)
        found = self.cascade.probability(float(similarity))
        if self.estimated:
            found *= at_least(self.threshold, self.estimated, float(similarity))
        return found

    @property
    def false_candidates(self) -> float:
        """Random pairs that are expected to become candidates and to fail the exact check."""
        if self.cascade is None:
            return 0.0
        pairs = self.documents * (self.documents - 1) / 2
        seen = Distribution.from_samples(self.background.similarities, pairs=pairs)
        return errors(self.cascade, self.threshold, seen).false_candidates

    def sentence(self) -> str:
        """Say the plan in a sentence or two."""
        shingles = f" of {self.shingle} shingles" if self.shingle else ""
        if self.cascade is None:
            return (
                f"Exact join{shingles}: every pair at or above {self.threshold:g} is found, "
                "without sketches."
            )
        if self.bands is not None:
            what = f"{count(self.bands, 'band')} of {count(self.rows or 0, 'row')}"
        else:
            what = f"Cascade {self.cascade}"
        found = self.probability(self.threshold)
        asked = f"{'' if found >= self.recall else 'below the '}{self.recall:g} asked"
        checked = f", by scores estimated from {self.estimated} rows" if self.estimated else ""
        return (
            f"{what}{shingles}, signatures of {count(self.signature, 'row')}: a pair at "
            f"{self.threshold:g} is found with probability {floor(found, 6)} ({asked}){checked}, "
            f"about {self.false_candidates:,.0f} false candidates expected among "
            f"{count(self.documents, 'document')}."
        )

    def table(self) -> list[tuple[float, float, float]]:
        """Give similarities around the threshold, the chance to be found and that to be missed."""
        steps = {round(0.1 * i, 1) for i in range(1, 10)} | {self.threshold}
        if self.cascade is None or self.estimated:
            return [(s, self.probability(s), 1 - self.probability(s)) for s in sorted(steps)]
        return [(s, self.cascade.probability(s), self.cascade.miss(s)) for s in sorted(steps)]


def at_least(threshold: float, rows: int, similarity: float) -> float:
    """Tell how likely the share of equal rows, each equal with this chance, reaches a threshold."""
    least = math.ceil(threshold * rows - 1e-9)
    if similarity in (0.0, 1.0):
        return float(similarity == 1 or least == 0)
    heads, tails = math.log(similarity), math.log1p(-similarity)
    ways = math.lgamma(rows + 1)
    return math.fsum(
        math.exp(
            ways - math.lgamma(k + 1) - math.lgamma(rows - k + 1) + k * heads + (rows - k) * tails
        )
        for k in range(least, rows + 1)
    )


def plan(
    threshold: float = 0.8,
    recall: float = 0.99,
    *,
    documents: int = 1_000_000,
    background: Background | float | None = None,
    shingles: float | None = None,
    bands: int | None = None,
    rows: int | None = None,
    cascade: str | None = None,
    signature: int | None = None,
    miss_weight: float | None = None,
) -> Plan:
    """Choose bands and rows.

    By default those of least expected cost with which a pair at the threshold is found with at
    least the recall; with `signature`, the best that so many rows allow, `miss_weight` (0.5)
    towards fewer misses or fewer false candidates; or `bands` and `rows`, or a `cascade`, as given.
    `background` is the similarity of random documents, `shingles` how many a document has.
    """
    from lookalike.settings import Settings, check_share

    settings = Settings(threshold=threshold, recall=recall, bands=bands, rows=rows, cascade=cascade)
    if isinstance(documents, bool) or not isinstance(documents, int) or documents < 0:
        raise SettingsError(f"documents {documents!r}: use a whole number from 0")
    if background is None or isinstance(background, (int, float)):
        mean = TYPICAL.mean if background is None else float(background)
        check_share("background", mean, "0.05")
        if shingles is not None and not shingles > 0:
            raise SettingsError(f"shingles {shingles!r}: use a number above 0, as 1000")
        background = Background(np.array([mean]), shingles or TYPICAL.shingles)
    if signature is None:
        if miss_weight is not None:
            raise SettingsError("a miss weight is for a fixed signature: give its rows, as 128")
        return plan_for(settings, documents, background)
    if not settings.planned:
        raise SettingsError("a signature length is for a plan: leave out bands, rows and cascade")
    if isinstance(signature, bool) or not isinstance(signature, int) or signature < 1:
        raise SettingsError(f"signature {signature!r}: use a whole number of rows, as 128")
    miss_weight = 0.5 if miss_weight is None else miss_weight
    check_share("miss weight", miss_weight, "0.5")
    fitted = _fit(threshold, signature, miss_weight)
    return Plan(threshold, recall, fitted, "fitted", documents, background)


def plan_for(settings: Settings, documents: int, background: Background) -> Plan:
    """Choose, or take as given, the bands and rows of a job on a measured corpus."""
    threshold, recall = settings.threshold, settings.recall
    if not settings.planned:
        given = _given(settings)
        return Plan(threshold, recall, given, "given", documents, background)
    if settings.exact:
        return Plan(threshold, recall, None, "exact", documents, background)
    cheapest = _cheapest(threshold, recall, documents, background)
    return Plan(threshold, recall, cheapest, "planned", documents, background)


def _given(settings: Settings) -> Cascade:
    if settings.cascade is not None:
        given = Cascade.parse(settings.cascade)
    else:
        given = Cascade.banding(settings.bands or 0, settings.rows or 0)
    if given.rows > MOST_GIVEN:
        raise SettingsError(
            f"'{given}' needs signatures of {given.rows:,} rows, more than {MOST_GIVEN:,}: "
            "use fewer bands or rows"
        )
    return given


def _bands_needed(threshold: float, recall: float, rows: int) -> int:
    """Give the fewest bands of so many rows with P(threshold) at or above the recall."""
    shared = threshold**rows
    if recall <= 0 or shared >= 1:
        return 1
    bands = max(1, math.ceil(math.log1p(-recall) / math.log1p(-shared) - 1e-9))
    while Cascade.banding(bands, rows).probability(threshold) < recall:
        bands += 1
    return bands


def _cheapest(threshold: float, recall: float, documents: int, background: Background) -> Cascade:
    pairs = documents * (documents - 1) / 2
    seen = Distribution.from_samples(background.similarities, pairs=pairs)
    best: tuple[float, Cascade] | None = None
    for rows in range(1, 65):
        # Where s^r is nothing beside 1, the bands needed are past all bounds.
        if threshold**rows * MOST_ROWS < -math.log1p(-recall) * 0.5:
            break
        bands = _bands_needed(threshold, recall, rows)
        if bands * rows > MOST_ROWS:
            continue
        banding = Cascade.banding(bands, rows)
        candidates = errors(banding, threshold, seen).false_candidates
        sketching = background.shingles * ROW_COST * banding.rows + BAND_COST * bands
        checking = PAIR_COST + SHINGLE_COST * background.shingles
        cost = documents * sketching + candidates * checking
        if best is None or cost < best[0]:
            best = cost, banding
    if best is None:
        raise SettingsError(
            f"threshold {threshold:g} with recall {recall:g} needs more than {MOST_ROWS:,} rows: "
            "raise the threshold, or use recall 1 for the exact join"
        )
    return best[1]


def _fit(threshold: float, signature: int, miss_weight: float) -> Cascade:
    """Give the banding of at most so many rows with the least weighted area of errors."""
    best: tuple[float, Cascade] | None = None
    for rows in range(1, signature + 1):
        banding = Cascade.banding(signature // rows, rows)
        wrong = errors(banding, threshold)
        cost = miss_weight * wrong.missed + (1 - miss_weight) * wrong.false_candidates
        if best is None or cost < best[0]:
            best = cost, banding
    if best is None:
        raise SettingsError(f"signature {signature}: use at least 1 row")
    return best[1]
