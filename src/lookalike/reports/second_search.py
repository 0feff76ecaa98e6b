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
from lookalike.reports.near_misses import (
    MAX_PAIRS,
    NONE_FOUND,
    NearMisses,
    bounds_of,
    is_of_containment,
    least_of,
)
from lookalike.reports.sources import REFERENCE, SOURCE

if TYPE_CHECKING:
    from lookalike.job.running import Progress
    from lookalike.reports.sources import Sources
    from lookalike.results import FindResult, Result

__all__ = ["are_many", "search_again"]

MAX_BYTES = 1 << 28
"""Of sources that are searched again."""


def search_again(result: Result, sources: Sources, progress: Progress) -> NearMisses | None:
    """Find the pairs just below the threshold; None where that would take long, or cannot be."""
    if not _is_possible(result, sources):
        return None
    settings = result.settings
    least = least_of(settings)
    corpora = [sources.corpora[one] for one in (REFERENCE, SOURCE) if one in sources.corpora]
    running = Running.of(
        skip_bad=bool(result.run.reading.get("skip_bad", False)),
        # The search that is shown with the result may have had stages of the same names.
        progress=lambda stage, *done: progress(f"{stage} (near misses)", *done),
    )
    try:
        # The bands that were planned are those of the threshold: for a lower one there are others.
        lower = replace(settings, threshold=least, bands=None, rows=None, cascade=None)
        job = Job(corpora, lower, running, across=len(corpora) > 1)
        with job.closed_if_it_fails():
            found = find(job)
            job.finish()
    except LookalikeError:
        return None
    with found:
        near = _below(found, settings.threshold)
    what = (
        f"Pairs {bounds_of(settings)}. The corpus was searched again for this page, with a recall "
        f"of {in_full(settings.recall)} at {in_full(least)}, and each pair was compared exactly."
    )
    if near.count > len(near):
        what += f" The {len(near):,} most similar of {near.count:,} are shown."
    if not near.count:
        what += NONE_FOUND
    complete = settings.recall == 1 and near.count == len(near)
    return NearMisses(least, what, complete, near)


def are_many(sources: Sources) -> bool:
    """Tell whether a search would take long."""
    return sources.size > MAX_BYTES


def _is_possible(result: Result, sources: Sources) -> bool:
    settings = result.settings
    if is_of_containment(result) or settings.simhash is not None or settings.estimate:
        return False
    if getattr(result, "plan", None) is None:
        return False
    # Of a dedup, pairs within the reference would be among them.
    if REFERENCE in sources.corpora and result.command != "find":
        return False
    return bool(sources.corpora) and sources.are_as_they_were and not are_many(sources)


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
