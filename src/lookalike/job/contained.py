"""`contained`: which documents are inside others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.timing import timed
from lookalike.base.wording import setting
from lookalike.job.compare import spill_if_large
from lookalike.recipe import JoinResources
from lookalike.results import ContainmentResult
from lookalike.results.pairs import LINK, Links
from lookalike.results.similar_pairs import DirectedPairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.job.job import Job

__all__ = ["contained", "containments"]


def contained(job: Job) -> ContainmentResult:
    """Find which documents are inside others."""
    job.prepare("contained")
    links, _ = containments(job)
    settings, documents = job.resolved(), job.documents()
    return ContainmentResult(
        settings=settings,
        summary=job.summary(),
        inside=DirectedPairs(documents, links, settings, job.seconds),
        run=job.run(),
        documents=documents,
    )


def containments(job: Job) -> tuple[Links, NDArray[np.int64]]:
    """Find which texts are inside others, and how many shingles each of those texts has."""
    threshold = job.settings.containment
    if threshold is None:
        raise SettingsError(f"{setting('containment')}: use a share above 0, as 0.9")
    stage, running = job.work.stage("contain"), job.running
    stage.restart()
    links = Links(stage.column("links", LINK))
    sizes = np.zeros(len(job.rows), np.int64)
    resources = JoinResources(
        running.memory // 2, running.threads, lambda *done: running.progress("compare", *done)
    )
    with timed(job.seconds, "compare"):
        for found in job.recipe.contained(job.texts, job.rows, threshold, resources):
            sizes[found.pairs.first] = found.first_sizes
            sizes[found.pairs.second] = found.second_sizes
            pairs = found.pairs
            allowed = job.text_pairing.may_pair(pairs.first, pairs.second)
            links.append(pairs if allowed is None else pairs.some(allowed))
            spill_if_large(links, stage, running)
    return links, sizes
