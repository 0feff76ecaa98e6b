"""`dedup`: which documents stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import QuadraticError
from lookalike.base.memory import size
from lookalike.base.timing import timed
from lookalike.base.wording import setting
from lookalike.candidates.pairing import Cells, Pairing
from lookalike.cluster.components import grouped_stars, stars
from lookalike.cluster.keep import priorities
from lookalike.cluster.thinning import Thinned
from lookalike.job import compare as comparing
from lookalike.job.contained import containments
from lookalike.job.look_up import look_up
from lookalike.results import DedupResult
from lookalike.results.dedup import KeptRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.candidates.identical import Groups
    from lookalike.cluster.components import Stars
    from lookalike.job.job import Job
    from lookalike.job.look_up import Matched
    from lookalike.job.sketch import Sketches
    from lookalike.recipe import Scored
    from lookalike.results.nearest import NearestDocuments
    from lookalike.results.pairs import Links

__all__ = ["dedup"]

PAIRS_PER_DOCUMENT = 16
"""Pairs for each document up to which all are compared at once before the kept are chosen."""
STAR_BYTES_PER_PAIR = 150
"""Memory for each pair from which the kept documents are chosen at once."""


def dedup(job: Job) -> DedupResult:
    """Keep one of each group of similar documents."""
    job.prepare("dedup")
    references = sum(job.collection.counts[:-1])
    contained = job.settings.rule == "contained"
    if job.pairing.labels is not None:
        return _dedup_in_groups(job, references, contained=contained)
    preferred, order = _preferred(job, job.groups, references)
    matched = None if job.seen is None else look_up(job, job.seen, job.reference_groups())
    if matched is not None:
        preferred, order = preferred[matched.left], _among(order, matched.left)
        job.rows = job.rows[matched.left]
    fixed = int(np.count_nonzero(preferred < references))
    if contained:
        links, sizes = containments(job)
        order = _larger_first(order, fixed, sizes)
        thinned = _stars_among(job, links, order, fixed, directed=True)
        return _stars(job, job.groups, preferred, order, thinned, None)
    places = _places(order)
    if job.plan.cascade is None:
        links, _ = job.links()
        thinned = _stars_among(job, links, order, fixed)
        nearest = job.nearest("compare")
    else:
        with timed(job.seconds, "sketch"):
            sketches = job.sketched()
        near = job.near_links(sketches, max_pairs=PAIRS_PER_DOCUMENT * len(order))
        if near is not None:
            thinned = _stars_among(job, near, order, fixed)
            nearest = job.nearest("compare", None if matched is None else matched.left)
        else:
            thinned = _thinned(job, sketches, order, places, fixed)
            nearest = job.nearest("thin", order if matched is None else matched.left[order])
    return _stars(job, job.groups, preferred, order, thinned, nearest, matched=matched)


def _dedup_in_groups(job: Job, references: int, *, contained: bool) -> DedupResult:
    """Keep greedily where documents of one group are no pair, identical ones either.

    Those that are identical and of one group stay together, or go together.
    """
    links, sizes = containments(job) if contained else (job.links()[0], None)
    cells = Cells.of(job.groups, Pairing(references, job.pairing.labels))
    preferred, order = _preferred(job, cells.documents, references)
    fixed = int(np.count_nonzero(preferred < references))
    texts = job.groups.of_document[preferred]
    if sizes is not None:
        order = _larger_first(order, fixed, sizes[texts])
    labels = np.empty(0, np.int64) if cells.labels is None else cells.labels
    pairs = _all_pairs(job, links, directed=contained)
    found = grouped_stars(
        np.arange(len(order)),
        fixed,
        texts[order],
        labels[order],
        pairs.first,
        pairs.second,
        pairs.similarity,
        directed=contained,
    )
    thinned = _counted(job, found, len(links))
    nearest = None if contained else job.nearest("compare")
    return _stars(job, cells.documents, preferred, order, thinned, nearest, together=True)


def _thinned(
    job: Job,
    sketches: Sketches,
    order: NDArray[np.int64],
    places: NDArray[np.int64],
    fixed: int,
) -> Thinned:
    """Keep greedily, each document compared with kept ones alone."""
    with timed(job.seconds, "band"):
        buckets = comparing.make_buckets(
            sketches, job.work.stage("band"), job.running, places=places
        )
    with timed(job.seconds, "compare"):
        return comparing.thin(
            buckets,
            sketches,
            job.verified(job.rows[order], job.settings.threshold),
            order,
            job.work.stage("thin"),
            job.running,
            fixed=fixed,
            prefilter=job.prefilter(sketches, order),
        )


def _preferred(
    job: Job, groups: Groups, references: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the document to keep of each group, and the groups in the order of preference."""
    collection = job.collection
    if not len(groups) or job.keep == "first":
        first = groups.representatives
        return first, np.argsort(first, kind="stable")  # quick where they are in order
    by_preference = priorities(
        job.keep,
        len(collection),
        characters=collection.characters.read,
        column=collection.column,
        ranks=lambda: collection.ids.ranks(np.arange(len(collection))),
    )
    place = np.empty(len(collection), np.int64)
    place[by_preference] = np.arange(len(collection)) + references
    # Documents of the reference come before all others, in their own order.
    place[:references] = np.arange(references)
    best = np.minimum.reduceat(place[groups.members], groups.starts[:-1])
    document = np.empty(int(place.max()) + 1, np.int64)
    document[place] = np.arange(len(collection))
    return document[best], np.argsort(best)


def _stars_among(
    job: Job, links: Links, order: NDArray[np.int64], fixed: int, *, directed: bool = False
) -> Thinned:
    """Keep greedily among all pairs; of directed ones the first is inside the second."""
    pairs = _all_pairs(job, links, directed=directed)
    places = _places(order)
    first, second = places[pairs.first], places[pairs.second]
    # A reference is never removed, nor weighed against another.
    weighed = np.flatnonzero((first >= fixed) | ((second >= fixed) & (not directed)))
    found = stars(np.arange(len(order)), first[weighed], second[weighed], pairs.similarity[weighed])
    return _counted(job, found, len(links))


def _all_pairs(job: Job, links: Links, *, directed: bool) -> Scored:
    """Give all pairs at once, if there is room to choose from them."""
    needed = len(links) * STAR_BYTES_PER_PAIR
    if needed > job.running.memory:
        less = f"use {setting('recall', 0.999)} or less, which compares with kept ones only"
        if directed:
            less = f"raise {setting('memory')}, or {setting('containment')} if it is below 1"
        elif job.settings.groups is not None:
            less = f"raise {setting('memory')}, or {setting('threshold')}"
        raise QuadraticError(
            f"{len(links):,} {'pairs' if directed else 'similar pairs'} were found, about "
            f"{size(needed)} to choose from, of {size(job.running.memory)} allowed: {less}"
        )
    return links.all()


def _counted(job: Job, found: Stars, accepted: int) -> Thinned:
    """Put to what is kept what became of candidates, of which so many were similar."""
    counted = job.work.stage("compare").known
    candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
    # What is contained is found without candidates.
    rejected = max(candidates - accepted, 0)
    return Thinned(found.kept, found.nearest, found.similarity, candidates, rejected, dismissed)


def _stars(
    job: Job,
    groups: Groups,
    preferred: NDArray[np.int64],
    order: NDArray[np.int64],
    thinned: Thinned,
    nearest: NearestDocuments | None,
    *,
    together: bool = False,
    matched: Matched | None = None,
) -> DedupResult:
    """Give the result of which groups stay: one document of each, or together all.

    Those that are `matched` go in any case, and the others are numbered without them.
    """
    ids, places = job.collection.ids, _places(order)
    references = sum(job.collection.counts[:-1])
    kept = groups.of_document < 0
    if together:
        filled = np.flatnonzero(~kept)
        kept[filled] = thinned.kept[places][groups.of_document[filled]]
    else:
        kept[preferred[thinned.kept[places]]] = True
    kept[:references] = True
    removed = np.flatnonzero(~kept)
    removed = removed[np.argsort(ids.ranks(removed))]
    group = groups.of_document[removed]
    if matched is None:
        place = places[group]
        named, similarity = preferred[order[thinned.nearest[place]]], thinned.similarity[place]
    else:
        named, similarity = _named(matched, group, preferred, order, thinned, len(ids))
    rows = np.flatnonzero(kept)
    return DedupResult(
        plan=None if job.settings.rule == "contained" else job.plan,
        settings=job.resolved(),
        summary=job.summary(thinned.candidates, thinned.rejected, thinned.dismissed, nearest),
        run=job.run(),
        thinned=KeptRows(
            kept=rows[rows >= references],
            removed=removed,
            named=named,
            similarity=similarity,
            references=references,
            empty=int(np.count_nonzero(groups.of_document[references:] < 0)),
            for_index=None if matched is None else int(np.count_nonzero(named >= len(ids))),
        ),
        documents=job.documents(None if matched is None else matched.ids),
    )


def _named(
    matched: Matched,
    group: NDArray[np.int64],
    preferred: NDArray[np.int64],
    order: NDArray[np.int64],
    thinned: Thinned,
    documents: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give what each removed document of a group names, and how similar it is.

    Documents of an index are counted after all others.
    """
    match = matched.of(group)
    seen = match >= 0
    named, similarity = np.empty(len(group), np.int64), np.empty(len(group))
    named[seen] = documents + matched.named[match[seen]]
    similarity[seen] = matched.similarity[match[seen]]
    place = _places(order)[np.searchsorted(matched.left, group[~seen])]
    named[~seen] = preferred[order[thinned.nearest[place]]]
    similarity[~seen] = thinned.similarity[place]
    return named, similarity


def _among(order: NDArray[np.int64], left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the order of those that are left, by their places among them."""
    places = np.full(len(order), -1, np.int64)
    places[left] = np.arange(len(left))
    found = places[order]
    return found[found >= 0]


def _places(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the place of each in an order."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def _larger_first(
    order: NDArray[np.int64], fixed: int, sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Put those with more shingles before others; the first, fixed ones stay first.

    Of two, the larger has the larger share of the other, so that whichever of them is inside the
    other, the smaller is inside the larger, and that is kept.
    """
    larger = np.argsort(-sizes[order[fixed:]], kind="stable")
    return np.concatenate([order[:fixed], order[fixed:][larger]])
