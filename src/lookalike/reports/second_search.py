"""Near misses of a corpus that is not small: a search again, from a little lower on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import LookalikeError
from lookalike.base.wording import in_full
from lookalike.job.find import find
from lookalike.job.job import Job
from lookalike.job.running import Running
from lookalike.reports.found import FoundPairs, extend, is_across, with_corpora
from lookalike.reports.near_misses import MAX_PAIRS, NearMisses, least_of
from lookalike.reports.sources import REFERENCE, SOURCE
from lookalike.results import ContainmentResult

if TYPE_CHECKING:
    from lookalike.reports.sources import Sources
    from lookalike.results import FindResult, Result

__all__ = ["search_again"]

MAX_BYTES = 1 << 26
"""Of sources that are searched again."""


def search_again(result: Result, sources: Sources) -> NearMisses | None:
    """Find the pairs just below the threshold; None where that would take long, or cannot be."""
    if not _is_possible(result, sources):
        return None
    settings = result.settings
    least = least_of(settings)
    corpora = [sources.corpora[one] for one in (REFERENCE, SOURCE) if one in sources.corpora]
    running = Running.of(skip_bad=bool(result.run.reading.get("skip_bad", False)))
    # The bands that were planned are those of the threshold: for a lower one there are others.
    lower = replace(settings, threshold=least, bands=None, rows=None, cascade=None)
    job = Job(corpora, lower, running, across=len(corpora) > 1)
    try:
        with job.closed_if_it_fails():
            found = find(job)
            job.finish()
    except LookalikeError:
        return None
    with found:
        near = _below(found, settings.threshold)
    what = (
        f"Pairs from {in_full(least)} up to {in_full(settings.threshold)}, which is not reached: "
        "the corpus was searched again for this page, with a recall of "
        f"{in_full(settings.recall)} at {in_full(least)}, and each pair compared exactly"
    )
    if near.count > len(near):
        what += f"; the {len(near):,} most similar of {near.count:,} are shown"
    complete = settings.recall == 1 and near.count == len(near)
    return NearMisses(least, f"{what}.", complete, near)


def _is_possible(result: Result, sources: Sources) -> bool:
    settings = result.settings
    contained = settings.rule == "contained" or isinstance(result, ContainmentResult)
    other = settings.groups is not None or settings.ignore is not None or settings.estimate
    plan = getattr(result, "plan", None)
    given = plan is None or plan.origin == "given"
    if contained or other or given or settings.simhash is not None or settings.threshold <= 0:
        return False
    # Of a dedup, pairs within the reference would be among them.
    if REFERENCE in sources.corpora and result.command != "find":
        return False
    size = sum(one.size for one in sources.corpora.values())
    return bool(sources.corpora) and sources.are_as_they_were and size <= MAX_BYTES


def _below(found: FindResult, threshold: float) -> FoundPairs:
    """Give the most similar pairs below a threshold, and how many there are."""
    near = FoundPairs(directed=False)
    second = REFERENCE if is_across(found) else SOURCE
    for table in found.similar.blocks(containments=True):
        lower: pa.Table = table.filter(pc.less(table["similarity"], threshold))
        near.count += len(lower)
        first = lower.slice(0, max(MAX_PAIRS - len(near), 0))
        if len(first):
            extend(near, with_corpora(first, SOURCE, second))
    return near
