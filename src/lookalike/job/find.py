"""`find`: similar pairs and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.timing import timed
from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import smallest_similarities
from lookalike.results import FindResult
from lookalike.results.clusters import Clusters
from lookalike.results.similar_pairs import LinkedPairs

if TYPE_CHECKING:
    from lookalike.job.job import Job
    from lookalike.job.sketch import Sketches

__all__ = ["find"]


def find(job: Job) -> FindResult:
    """Find the similar pairs."""
    job.prepare("find")
    links, sketches = job.links()
    counted = job.work.stage("compare").known
    candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
    settings, documents = job.resolved(), job.documents()
    similar = LinkedPairs(documents, links, settings, job.seconds, job.across)
    with timed(job.seconds, "cluster"):
        clusters = _clusters(job, similar, sketches)
    return FindResult(
        plan=job.plan,
        settings=settings,
        summary=job.summary(candidates, candidates - len(links), dismissed, job.nearest("compare")),
        similar=similar,
        run=job.run(),
        grouped=clusters,
        documents=documents,
    )


def _clusters(job: Job, similar: LinkedPairs, sketches: Sketches | None) -> Clusters:
    """Join similar documents to clusters, and see how alike the members of each are."""
    groups = similar.documents.joined
    rows, lowest = groups.representatives, job.recipe.lowest
    compare = job.verified(rows, lowest)
    if job.recipe.by_sketches and sketches is not None:
        compare = job.estimated(sketches, lowest, job.groups.of_document[rows])
    forest, alone = UnionFind(len(groups)), np.ones(len(groups), np.bool_)
    for block in similar.joined_links():
        forest.unite(block.first, block.second)
        alone[block.first] = alone[block.second] = False
    labels = forest.labels()
    smallest = smallest_similarities(
        labels,
        similar.joined_links(),
        job.texts.fingerprints[rows, 0],
        lambda first, second: compare(first, second, None),
        progress=lambda *done: job.running.progress("cluster", *done),
    )
    if similar.documents.cells is not None:
        # Identical documents that are no pair are not together for being identical.
        labels[alone] = -1
    return Clusters(similar.documents, labels, smallest, similar.by_id.rows, job.across)
