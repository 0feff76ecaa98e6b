"""A plan as points of a picture: its curves, and the pairs of the corpus that it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from lookalike.base.plots.shapes import Curve, Histogram, positions
from lookalike.base.wording import count
from lookalike.planning.sampling import CLOSE_SIMILARITY

if TYPE_CHECKING:
    from lookalike.planning.sampling import Background

__all__ = ["plan_curves", "sampled_pairs"]

PATH_POINTS = 36
"""Points of the curve of the whole path, each of which takes some milliseconds."""


class _Cascade(Protocol):
    def curve(self, threshold: float | None = None, *, metric: str = "jaccard") -> Curve: ...


class _Chance(Protocol):
    @property
    def found(self) -> float: ...


class _Plan(Protocol):
    @property
    def cascade(self) -> _Cascade | None: ...
    @property
    def threshold(self) -> float: ...
    @property
    def metric(self) -> str: ...
    @property
    def distance(self) -> int | None: ...
    @property
    def estimated(self) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def background(self) -> Background: ...
    def chance(self, similarity: float) -> _Chance: ...


def plan_curves(plan: _Plan) -> list[Curve]:
    """Give the curve of candidates and that of the whole path; where all is found, a step."""
    least = -1.0 if plan.metric == "cosine" else 0.0
    if plan.distance is not None:
        points = np.linspace(least, 1, 101)
        found = np.array([plan.chance(float(one)).found for one in points])
        return [_unmarked("fingerprints near enough", points, found, plan.metric)]
    if plan.cascade is None:
        points = np.array([least, plan.threshold, plan.threshold, 1.0])
        found = np.array([0.0, 0.0, 1.0, 1.0])
        return [_unmarked("every pair is found", points, found, plan.metric)]
    candidates = plan.cascade.curve(plan.threshold, metric=plan.metric)
    return [candidates, _whole_path(plan)]


def _whole_path(plan: _Plan) -> Curve:
    """Give the chance to come through the whole path, at points that lie closer where it rises."""
    found = {
        point: plan.chance(point).found for point in (*_evenly(plan.metric), float(plan.threshold))
    }
    while len(found) < PATH_POINTS:
        known = sorted(found)
        places = positions(known, plan.metric)
        apart = np.hypot(np.diff(places), np.diff([found[one] for one in known]))
        widest = int(apart.argmax())
        middle = (known[widest] + known[widest + 1]) / 2
        found[middle] = plan.chance(middle).found
    points = np.array(sorted(found))
    chances = np.array([found[float(one)] for one in points])
    # A pair below the threshold may be compared, and is then rejected; only by estimates is it
    # found.
    label = "found" if plan.estimated else "compared exactly"
    return _unmarked(label, points, chances, plan.metric)


def _evenly(metric: str) -> list[float]:
    """Give similarities that stand as far apart in a picture."""
    steps = np.linspace(0, 1, PATH_POINTS // 3)
    return [float(one) for one in (-np.cos(np.pi * steps) if metric == "cosine" else steps)]


def _unmarked(
    label: str,
    similarities: np.ndarray[tuple[int], np.dtype[np.float64]],
    chances: np.ndarray[tuple[int], np.dtype[np.float64]],
    metric: str,
) -> Curve:
    return Curve(label, similarities, chances, None, None, None, metric=metric, shaded=False)


def sampled_pairs(plan: _Plan, bins: int) -> Histogram | None:
    """Count the pairs of a corpus by similarity, as its sample has them.

    None where no corpus was measured.
    """
    background = plan.background
    if len(background.similarities) <= 1 and background.close is None:
        return None
    similarities, shares = background.weighed()
    if background.close is not None:
        # The larger sample tells of pairs that are far from random; the others are random ones.
        near = similarities < CLOSE_SIMILARITY
        shares = np.where(near, shares * (1 - shares[~near].sum()), shares)
    pairs = plan.documents * (plan.documents - 1) / 2
    label = f"pairs of {count(plan.documents, 'document')}, by a sample"
    return Histogram.of(label, similarities, shares * pairs, metric=plan.metric, bins=bins)
