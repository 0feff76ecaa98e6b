"""The plan with its curve, and the histogram of similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.wording import count
from lookalike.reports import model
from lookalike.reports.found import BINS, binned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.planning.plan import Plan
    from lookalike.reports.found import FoundPairs

__all__ = ["histogram_of", "plan_of"]

STEPS = 100
DIGITS, SAMPLE_DIGITS = 6, 3


def plan_of(plan: Plan, sentence: str) -> model.Plan:
    """Give a plan with the points of its curve; the sentence is that of the record."""
    least = -1 if plan.metric == "cosine" else 0
    points = [round(least + (1 - least) * i / STEPS, DIGITS) for i in range(STEPS + 1)]
    points = sorted({*points, plan.threshold})
    found = [round(plan.probability(one), DIGITS) for one in points]
    if plan.cascade is None and plan.distance is None:
        # All are compared, and from the threshold on all are found: a step.
        points = [float(least), plan.threshold, plan.threshold, 1.0]
        found = [0.0, 0.0, 1.0, 1.0]
    return model.Plan(
        sentence=sentence,
        threshold=plan.threshold,
        recall=plan.recall,
        bands=plan.bands,
        rows=plan.rows,
        cascade=None if plan.cascade is None else str(plan.cascade),
        half=_rounded(plan.half),
        rule_of_thumb=_rounded(plan.rule_of_thumb),
        shingle=plan.shingle,
        shingle_reason=plan.shingle_reason,
        similarities=points,
        candidate=[round(plan.candidate(one), DIGITS) for one in points],
        found=found,
    )


def histogram_of(plan: Plan | None, found: FoundPairs) -> model.Histogram:
    """Count the pairs of the sample that the plan stands on, and the pairs found."""
    series = []
    if plan is not None and len(plan.background.similarities):
        sample = plan.background.similarities
        pairs = count(len(sample), "pair")
        what = (
            f"All {pairs} of the {count(plan.documents, 'distinct document')}."
            if 2 * len(sample) == plan.documents * (plan.documents - 1)
            else f"{pairs} of random documents of the corpus."
        )
        # The record of a result has no more digits, and gives the same page.
        series.append(_series("sample", what, binned(np.round(sample, SAMPLE_DIGITS))))
    if found.count:
        what = f"The {count(found.count, 'pair')} found, including identical copies."
        series.append(_series("pairs", what, found.counts))
    edges = [round(i / BINS, DIGITS) for i in range(BINS + 1)]
    return model.Histogram(edges, series)


def _series(name: str, what: str, counts: NDArray[np.int64]) -> model.Series:
    above = np.cumsum(counts[::-1])[::-1]
    return model.Series(name, what, counts.tolist(), above.tolist())


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
