"""The last stages: buckets to candidates to verified pairs, or to the documents that stay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import QuadraticError
from lookalike.candidates.buckets import (
    BLOCK,
    LEAST_LIMIT,
    PAIRS_PER_DOCUMENT,
    Buckets,
    Meetings,
    met,
    refuse_if_quadratic,
)
from lookalike.candidates.near_bands import BYTES, sweep
from lookalike.cluster.components import stars
from lookalike.recipe import Means
from lookalike.results.pairs import LINK, Links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.candidates.near_bands import Swept
    from lookalike.candidates.prefilter import Prefilter
    from lookalike.job.running import Running
    from lookalike.job.sketch import Sketches
    from lookalike.job.work_folder import Work
    from lookalike.recipe import Recipe
    from lookalike.score.jaccard import Scored
    from lookalike.text.documents import Texts

__all__ = ["Thinned", "exact_links", "links_of", "make_buckets", "swept", "swept_links", "thin"]

STRETCH = 1 << 13
"""Documents that meet the kept ones at a time."""
SMALLEST = 1 << 8
"""Documents that are compared with each other whatever their number of pairs."""
FEW = 16
"""Pairs for each document of a stretch up to which all are compared at once."""
MOST_COMPARED = 10_000
"""Comparisons for each document above which a corpus cannot be thinned in bounded work."""
LEAST_COMPARED = 1_000_000_000
SORT_BYTES = 40
"""Bytes for each document while one band is sorted."""

SWEPT_BYTES = 40
"""Memory for each pair that is put aside before it is compared, while more are put to it."""

REMOVED = np.dtype([("place", "<u4"), ("kept", "<u4"), ("similarity", "<f8")])


def make_buckets(
    sketches: Sketches,
    work: Work,
    running: Running,
    *,
    places: NDArray[np.int64] | None = None,
) -> Buckets:
    """Make the buckets, a band at a time, in as many threads as the memory allows."""
    work.store.drop("buckets")
    running.progress("band", 0, len(sketches.layout.generators))
    together = max(1, running.memory // 8 // (SORT_BYTES * max(1, len(sketches.keys))))
    return Buckets.of(
        sketches.keys,
        sketches.layout,
        work.store.column("buckets", np.uint32),
        bare=sketches.bare,
        places=places,
        threads=min(running.threads, together // 2 or 1),
        progress=lambda done, total: running.progress("band", done, total),
    )


def links_of(
    buckets: Buckets,
    sketches: Sketches,
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored],
    work: Work,
    running: Running,
    *,
    prefilter: Prefilter | None = None,
) -> Links:
    """Verify all candidates that pass the prefilter; the work folder counts them."""
    refuse_if_quadratic(buckets, sketches.layout.cascade)
    known = work.stage("compare")
    if known.get("swept") is not None:
        # Pairs that were put aside are too many for the memory that is now allowed.
        known.clear()
        work.store.drop("links")
        work.checkpoint()
    links = Links(work.store.column("links", LINK))
    keys = sketches.keys.all() if sketches.layout.filtered else None

    def finished(documents: int) -> None:
        known["place"] = documents
        running.progress("compare", documents, buckets.documents)
        work.checkpoint()

    blocks = met(buckets, sketches.layout, keys, start=known.get("place", 0), progress=finished)
    _verify(blocks, compare, links, known, work, running, prefilter)
    finished(buckets.documents)
    return links


def swept(
    sketches: Sketches, bits: int, differing: int, running: Running, *, most: int | None = None
) -> Swept | None:
    """Find all candidates whose sketches are near; None where those are too many.

    `bits` is how many of a key, the lowest, tell buckets apart.
    """
    layout, documents = sketches.layout, len(sketches.keys)
    running.progress("band", 0, layout.bands)
    fitting = running.memory // 4 // SWEPT_BYTES
    together = running.memory // 4 // (BYTES * max(1, documents))
    return sweep(
        sketches.keys.band,
        layout.bands,
        bits,
        sketches.prefilter_bits(),
        bare=sketches.bare,
        differing=differing,
        most=fitting if most is None else min(most, fitting),
        most_met=max(LEAST_LIMIT, PAIRS_PER_DOCUMENT * documents),
        threads=max(1, min(running.threads, together)),
        progress=lambda done, total: running.progress("band", done, total),
    )


def swept_links(
    found: Swept,
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored],
    work: Work,
    running: Running,
) -> Links:
    """Verify the candidates that a sweep found; the work folder counts them."""
    known = work.stage("compare")
    if known.get("swept") is None:
        candidates = len(found) + found.dismissed
        known.update(swept=0, candidates=candidates, dismissed=found.dismissed)
        work.store.drop("links")
        work.checkpoint()
    links = Links(work.store.column("links", LINK))
    for start in range(known["swept"], len(found), BLOCK):
        stop = min(start + BLOCK, len(found))
        links.append(compare(*found.part(start, stop)))
        make_room_for(links, work, running)
        known["swept"] = stop
        work.checkpoint()
        running.progress("compare", stop, len(found))
    return links


def exact_links(
    texts: Texts,
    chosen: NDArray[np.int64],
    recipe: Recipe,
    work: Work,
    running: Running,
) -> Links:
    """Find every pair by the exact join, which holds all documents in memory."""
    means = Means(running.memory, running.threads, lambda *done: running.progress("compare", *done))
    blocks, compare = recipe.every(texts, chosen, means)
    work.forget("compare")
    work.store.drop("links")
    links = Links(work.store.column("links", LINK))
    _verify(blocks, compare, links, work.stage("compare"), work, running)
    return links


def _verify(
    blocks: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]],
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored],
    links: Links,
    known: dict[str, Any],
    work: Work,
    running: Running,
    prefilter: Prefilter | None = None,
) -> None:
    known.setdefault("candidates", 0)
    for first, second in blocks:
        met = len(first)
        if prefilter is not None:
            first, second = prefilter.passing(first, second)
        links.append(compare(first, second))
        known["candidates"] += met
        known["dismissed"] = known.get("dismissed", 0) + met - len(first)
        make_room_for(links, work, running)


def make_room_for(links: Links, work: Work, running: Running) -> None:
    """Move a job in memory to disk when its pairs become too many."""
    if not work.durable and len(links) * LINK.itemsize > running.memory // 8:
        work.make_room()


@dataclass
class Thinned:
    """Which documents, by their places, stay, and for each other the kept one it names."""

    kept: NDArray[np.bool_]
    nearest: NDArray[np.int64]
    similarity: NDArray[np.float64]
    candidates: int
    rejected: int
    dismissed: int = 0


@dataclass
class _Thinning:
    """Documents in the order of preference, each compared with kept ones only.

    The result is that of keeping greedily in this order, as `cluster.stars` does on all pairs; but
    a thousand copies of one text make a thousand comparisons, not half a million.
    """

    buckets: Buckets
    sketches: Sketches
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored]
    documents: NDArray[np.int64]
    """The document at each place."""
    fixed: int
    """Places, the first ones, of documents that are never removed."""
    work: Work
    running: Running
    prefilter: Prefilter | None
    """By places, as the candidates are."""
    kept: NDArray[np.bool_] = field(init=False)
    nearest: NDArray[np.int64] = field(init=False)
    similarity: NDArray[np.float64] = field(init=False)

    def run(self) -> Thinned:
        count = self.buckets.documents
        known = self.work.stage("thin")
        for name in ("candidates", "rejected", "dismissed", "place"):
            known.setdefault(name, 0)
        column = self.work.store.column("removed", REMOVED)
        self.known = known
        self.keys = self.sketches.keys.all() if self.sketches.layout.filtered else None
        self.kept = np.ones(count, np.bool_)
        self.nearest = np.arange(count, dtype=np.int64)
        self.similarity = np.ones(count)
        before = column.read()
        self.kept[before["place"]] = False
        self.nearest[before["place"]] = before["kept"]
        self.similarity[before["place"]] = before["similarity"]
        self.meetings = Meetings(self.buckets)
        self.running.progress("compare", known["place"], count)
        for base, stop in self._stretches(count):
            stretch = self.buckets.stretch(base, stop)
            if stop > max(known["place"], self.fixed):
                self._thin(stretch, base)
                gone = base + np.flatnonzero(~self.kept[base:stop])
                records = np.empty(len(gone), REMOVED)
                records["place"], records["kept"] = gone, self.nearest[gone]
                records["similarity"] = self.similarity[gone]
                column.append(records)
                known["place"] = stop
                self.work.checkpoint()
                self._refuse_endless()
                self.running.progress("compare", stop, count)
            else:
                self.meetings.enter(stretch, base, self.kept[base:stop])
        counts = (known[name] for name in ("candidates", "rejected", "dismissed"))
        return Thinned(self.kept, self.nearest, self.similarity, *counts)

    def _stretches(self, count: int) -> Iterator[tuple[int, int]]:
        for begin, end in ((0, self.fixed), (self.fixed, count)):
            for base in range(begin, end, STRETCH):
                yield base, min(base + STRETCH, end)

    def _thin(self, stretch: NDArray[np.uint32], base: int) -> None:
        alive = np.ones(stretch.shape[1], np.bool_)
        self._meet_kept(stretch, base, alive, least=0)
        self._settle(stretch, base, alive)
        # One that went early has not met those kept before it in this stretch: one may be nearer.
        gone = ~self.kept[base : base + len(alive)]
        if gone.any():
            self._meet_kept(stretch, base, gone, least=base)

    def _meet_kept(
        self, stretch: NDArray[np.uint32], base: int, alive: NDArray[np.bool_], *, least: int
    ) -> None:
        """Compare with the kept ones from a place on; each similar one names its nearest."""
        for first, second in self.meetings.of(
            stretch, base, alive=alive, least=least, insert=False
        ):
            before = np.flatnonzero(first < second)
            scored = self._compared(first[before], second[before])
            # Of each document the most similar kept one, the first of equally similar ones.
            order = np.lexsort((scored.first, -scored.similarity, scored.second))
            which, at = np.unique(scored.second[order], return_index=True)
            best = order[at]
            kept, similarity = scored.first[best], scored.similarity[best]
            better = self.kept[which] | (similarity > self.similarity[which])
            better |= (similarity == self.similarity[which]) & (kept < self.nearest[which])
            self.kept[which] = False
            self.nearest[which[better]] = kept[better]
            self.similarity[which[better]] = similarity[better]
        alive &= self.kept[base : base + len(alive)]

    def _settle(self, stretch: NDArray[np.uint32], base: int, alive: NDArray[np.bool_]) -> None:
        """Decide among documents of which none is similar to a kept one before them."""
        size = len(alive)
        most = FEW * size if size > SMALLEST else size * size
        blocks = []
        count = 0
        for block in self.meetings.of(stretch, base, alive=alive, least=base, insert=True):
            blocks.append(block)
            count += len(block[0])
            if count > most:
                break
        self.meetings.leave(stretch, base)
        if count > most:
            # Many are alike. Once half of them is settled, few kept ones speak for it.
            half = size // 2
            self._settle(stretch[:, :half].copy(), base, alive[:half])
            rest, begin = stretch[:, half:].copy(), base + half
            self._meet_kept(rest, begin, alive[half:], least=base)
            self._settle(rest, begin, alive[half:])
            return
        for scored in [self._compared(*_joined(blocks))] if blocks else []:
            found = stars(
                np.arange(size), scored.first - base, scored.second - base, scored.similarity
            )
            gone = np.flatnonzero(~found.kept)
            self.kept[base + gone] = False
            self.nearest[base + gone] = base + found.nearest[gone]
            self.similarity[base + gone] = found.similarity[gone]
            alive[gone] = False
        self.meetings.enter(stretch, base, alive)

    def _compared(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Scored:
        if self.keys is not None:
            documents = self.documents
            held = self.sketches.layout.holds(self.keys, documents[first], documents[second])
            first, second = first[held], second[held]
        met = len(first)
        if self.prefilter is not None:
            first, second = self.prefilter.passing(first, second)
        scored = self.compare(first, second)
        self.known["candidates"] += met
        self.known["rejected"] += met - len(scored)
        self.known["dismissed"] += met - len(first)
        return scored

    def _refuse_endless(self) -> None:
        count = self.buckets.documents
        if self.known["candidates"] > max(LEAST_COMPARED, MOST_COMPARED * count):
            raise QuadraticError(
                f"{self.known['candidates']:,} comparisons for {count:,} documents, of which "
                f"{self.known['rejected']:,} failed: most are in one bucket and few are similar; "
                "use longer shingles, a higher threshold, or --max-df for shared boilerplate"
            )


def _joined(
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return (
        np.concatenate([first for first, _ in blocks]),
        np.concatenate([second for _, second in blocks]),
    )


def thin(
    buckets: Buckets,
    sketches: Sketches,
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored],
    documents: NDArray[np.int64],
    work: Work,
    running: Running,
    *,
    fixed: int = 0,
    prefilter: Prefilter | None = None,
) -> Thinned:
    """Keep documents in the order of their places; `compare` and `prefilter` take places."""
    return _Thinning(buckets, sketches, compare, documents, fixed, work, running, prefilter).run()
