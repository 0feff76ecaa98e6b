"""The stages that compare: candidates to verified pairs, or to the documents that stay.

Candidates come from generators that know nothing of a job; here their places are written down, so
that a job that was killed goes on, and pairs that become too many move to disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.candidates.buckets import (
    BLOCK_PAIRS,
    MIN_PAIRS_LIMIT,
    PAIRS_PER_DOCUMENT,
    Buckets,
    candidate_blocks,
    refuse_if_quadratic,
)
from lookalike.candidates.near_bands import BYTES_PER_DOCUMENT, NearPairs, near_bands
from lookalike.candidates.pairing import TextPairing
from lookalike.cluster.thinning import Thinned, Thinning
from lookalike.recipe import JoinResources, Nearest
from lookalike.results.pairs import LINK, Links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from lookalike.candidates.pairing import SideOrder
    from lookalike.candidates.prefilter import Prefilter
    from lookalike.job.running import Running
    from lookalike.job.sketch import Sketches
    from lookalike.job.work_folder import Stage
    from lookalike.recipe import Recipe
    from lookalike.score.jaccard import Scored
    from lookalike.score.nearest import Below
    from lookalike.text.documents import Texts

    Compare = Callable[[NDArray[np.int64], NDArray[np.int64], Below | None], Scored]

__all__ = ["exact_links", "find_near", "links_of", "make_buckets", "near_links", "thin"]

SORT_BYTES_PER_DOCUMENT = 40
"""Bytes for each document while one band is sorted."""
NEAR_BYTES_PER_PAIR = 40
"""Memory for each pair that is put aside before it is compared, while more are put to it."""

ALL_PAIRS = TextPairing()
"""Every two texts may be a pair."""
REMOVED = np.dtype([("place", "<u4"), ("kept", "<u4"), ("similarity", "<f8")])
COUNTS = ("candidates", "rejected", "dismissed")


def make_buckets(
    sketches: Sketches,
    stage: Stage,
    running: Running,
    *,
    places: NDArray[np.int64] | None = None,
    across: SideOrder | None = None,
) -> Buckets:
    """Make the buckets, a band at a time, in as many threads as the memory allows."""
    stage.drop("buckets")
    running.progress("band", 0, len(sketches.layout.generators))
    concurrent_bands = max(
        1, running.memory // 8 // (SORT_BYTES_PER_DOCUMENT * max(1, len(sketches.keys)))
    )
    return Buckets.of(
        sketches.keys,
        sketches.layout,
        stage.column("buckets", np.uint32),
        empty=sketches.empty,
        places=places,
        across=across,
        threads=min(running.threads, concurrent_bands // 2 or 1),
        progress=lambda done, total: running.progress("band", done, total),
    )


def links_of(
    buckets: Buckets,
    sketches: Sketches,
    compare: Compare,
    stage: Stage,
    running: Running,
    *,
    fixed: int = 0,
    prefilter: Prefilter | None = None,
    pairing: TextPairing = ALL_PAIRS,
    across: SideOrder | None = None,
) -> Links:
    """Verify all candidates that pass the prefilter; the stage counts them."""
    refuse_if_quadratic(buckets, sketches.layout.cascade)
    if stage.known.get("near") is not None:
        # Pairs that were put aside are too many for the memory that is now allowed.
        stage.restart()
        stage.checkpoint()
    known = stage.known
    keys = sketches.keys.all() if sketches.layout.filtered else None

    def finished(documents: int) -> None:
        known["place"] = documents
        running.progress("compare", documents, buckets.documents)
        stage.checkpoint()

    blocks = candidate_blocks(
        buckets,
        sketches.layout,
        keys,
        start=known.get("place", 0),
        across=across,
        progress=finished,
    )
    links = _verified(blocks, compare, stage, running, fixed, prefilter, pairing)
    finished(buckets.documents)
    return links


def find_near(
    sketches: Sketches,
    bits: int,
    max_differing: int,
    running: Running,
    *,
    max_pairs: int | None = None,
) -> NearPairs | None:
    """Find all candidates whose sketches are near; None where those are too many.

    `bits` is how many of a key, the lowest, tell buckets apart.
    """
    layout, documents = sketches.layout, len(sketches.keys)
    running.progress("band", 0, layout.bands)
    fitting = running.memory // 4 // NEAR_BYTES_PER_PAIR
    concurrent_bands = running.memory // 4 // (BYTES_PER_DOCUMENT * max(1, documents))
    found = NearPairs(fitting if max_pairs is None else min(max_pairs, fitting))
    blocks = near_bands(
        sketches.keys.band,
        layout.bands,
        bits,
        sketches.prefilter_bits(),
        empty=sketches.empty,
        max_differing=max_differing,
        max_pairs=found.max_pairs,
        max_bucket_pairs=max(MIN_PAIRS_LIMIT, PAIRS_PER_DOCUMENT * documents),
        threads=max(1, min(running.threads, concurrent_bands)),
    )
    for done, band in enumerate(blocks, 1):
        if not found.add(band):
            return None
        running.progress("band", done, layout.bands)
    return found if len(found) <= found.max_pairs else None


def near_links(
    found: NearPairs,
    compare: Compare,
    stage: Stage,
    running: Running,
    pairing: TextPairing = ALL_PAIRS,
    *,
    fixed: int = 0,
) -> Links:
    """Verify the candidates whose sketches are near; the stage counts them."""
    if stage.known.get("near") is None:
        stage.restart()
        candidates = len(found) + found.dismissed
        stage.known.update(near=0, candidates=candidates, dismissed=found.dismissed)
        stage.checkpoint()
    known = stage.known
    links = Links(stage.column("links", LINK))
    nearest = Nearest(known.get("nearest"), fixed=fixed)
    for start in range(known["near"], len(found), BLOCK_PAIRS):
        stop = min(start + BLOCK_PAIRS, len(found))
        first, second = pairing.passing(*found.part(start, stop))
        links.append(compare(first, second, nearest))
        known["candidates"] -= stop - start - len(first)
        spill_if_large(links, stage, running)
        known.update(near=stop, nearest=nearest.plain())
        stage.checkpoint()
        running.progress("compare", stop, len(found))
    return links


def exact_links(
    texts: Texts,
    chosen: NDArray[np.int64],
    recipe: Recipe,
    stage: Stage,
    running: Running,
    pairing: TextPairing = ALL_PAIRS,
    *,
    fixed: int = 0,
) -> Links:
    """Find every pair by the exact join, which holds all documents in memory."""
    resources = JoinResources(
        running.memory, running.threads, lambda *done: running.progress("compare", *done)
    )
    join = recipe.every(texts, chosen, resources, pairing.sides)
    stage.restart()
    links = _verified(join.blocks, join.compare, stage, running, fixed, pairing=pairing)
    if join.offer_all is not None:
        nearest = Nearest(fixed=fixed, may_pair=pairing.may_pair)
        join.offer_all(nearest)
        stage.known.update(nearest=nearest.plain(), whole=True)
    return links


def _verified(
    blocks: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]],
    compare: Compare,
    stage: Stage,
    running: Running,
    fixed: int,
    prefilter: Prefilter | None = None,
    pairing: TextPairing = ALL_PAIRS,
) -> Links:
    links, known = Links(stage.column("links", LINK)), stage.known
    nearest = Nearest(known.get("nearest"), fixed=fixed)
    for name in ("candidates", "dismissed"):
        known.setdefault(name, 0)
    for block in blocks:
        first, second = pairing.passing(*block)
        count = len(first)
        if prefilter is not None:
            first, second = prefilter.passing(first, second)
        links.append(compare(first, second, nearest))
        known["nearest"] = nearest.plain()
        known["candidates"] += count
        known["dismissed"] += count - len(first)
        spill_if_large(links, stage, running)
    return links


def spill_if_large(links: Links, stage: Stage, running: Running) -> None:
    """Move a job in memory to disk when its pairs become too many."""
    if not stage.work.durable and len(links) * LINK.itemsize > running.memory // 8:
        stage.work.spill()


def thin(
    buckets: Buckets,
    sketches: Sketches,
    compare: Compare,
    documents: NDArray[np.int64],
    stage: Stage,
    running: Running,
    *,
    fixed: int = 0,
    prefilter: Prefilter | None = None,
) -> Thinned:
    """Keep documents in the order of their places; `compare` and `prefilter` take places."""
    known, count = stage.known, buckets.documents
    column = stage.column("removed", REMOVED)
    found = Thinned.all_kept(count)
    before = column.read()
    found.kept[before["place"]] = False
    found.nearest[before["place"]] = before["kept"]
    found.similarity[before["place"]] = before["similarity"]
    for name in COUNTS:
        setattr(found, name, known.get(name, 0))
    keys = sketches.keys.all() if sketches.layout.filtered else None
    nearest = Nearest(known.get("nearest"), fixed=fixed)
    thinning = Thinning(
        buckets,
        sketches.layout,
        lambda first, second: compare(first, second, nearest),
        documents,
        found,
        fixed,
        prefilter,
        keys,
    )
    start = known.get("place", 0)
    running.progress("compare", start, count)
    for stop, removed in thinning.run(start):
        records = np.empty(len(removed), REMOVED)
        records["place"], records["kept"] = removed, found.nearest[removed]
        records["similarity"] = found.similarity[removed]
        column.append(records)
        known.update({name: getattr(found, name) for name in COUNTS}, place=stop)
        known["nearest"] = nearest.plain()
        stage.checkpoint()
        running.progress("compare", stop, count)
    return found
