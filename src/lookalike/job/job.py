"""One job from its sources to its result: the order of the stages."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import (
    LookalikeError,
    OutputError,
    QuadraticError,
    SettingsError,
    SourceError,
    UnreadableError,
)
from lookalike.base.memory import size
from lookalike.candidates.containment import contained
from lookalike.candidates.identical import Groups
from lookalike.cluster.components import stars
from lookalike.cluster.keep import column_of, priorities
from lookalike.job import compare as comparing
from lookalike.job.read import read_all
from lookalike.job.sketch import Sketches, sketch
from lookalike.job.work_folder import Work
from lookalike.kernels.jit import load_if_limited
from lookalike.recipe import CanonicalForm, Sample, check, choose
from lookalike.recipe.metrics import Cosine
from lookalike.results import ContainmentResult, DedupResult, FindResult, Ground, Summary
from lookalike.results.pairs import LINK, Links
from lookalike.score.jaccard import Scored
from lookalike.text import boilerplate
from lookalike.text.documents import Selection
from lookalike.text.shingles import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lookalike.candidates.prefilter import Prefilter
    from lookalike.job.running import Running
    from lookalike.job.work_folder import Claim
    from lookalike.read import Corpus
    from lookalike.read.source import InMemory
    from lookalike.recipe.metrics import Compare
    from lookalike.settings import Settings
    from lookalike.text.boilerplate import SharedPassage

__all__ = ["Job"]

LONG_JOB = 500_000_000
"""Bytes of sources from which a job says beforehand what it will take."""
STAR_BYTES = 150
"""Memory for each pair from which the kept documents are chosen at once."""
DOCUMENT_BYTES, BASE_BYTES = 150, 300_000_000
"""Memory that each document takes whatever the budget, and that the program itself does."""
SKETCHING = ("shingle", "metric", "weights", "multiset", "normalise", "seed", "ignore", "max_df")
"""Settings that decide a signature; a kept work folder serves all jobs that share them."""


@dataclass
class Job:
    """The stages of one job, on sources of which the last is the corpus itself."""

    sources: Sequence[Corpus | InMemory]
    settings: Settings
    running: Running
    reading: dict[str, Any] = field(default_factory=dict)
    """What of the reading a work folder must agree with."""
    keep: str = "first"
    claimed: Claim | None = None
    """The work folder, where that was claimed before."""
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open the work folder, and see whether it is of this job."""
        check(self.settings)
        load_if_limited()
        form = CanonicalForm.of(self.settings)
        column = column_of(self.keep)
        reading = {
            "sources": [source.identity() for source in self.sources],
            **self.reading,
            "normalise": str(form.normalisation),
            "multiset": form.counted,
            "column": column,
            "skip_bad": self.running.skip_bad,
        }
        if self.running.work is not None and None in reading["sources"]:
            raise SettingsError("a work folder is for sources in files: leave it out")
        self.work = Work(self.running.work, reading=reading, claimed=self.claimed)
        self._say_what_it_takes()

    def _begin(self, command: str) -> None:
        """Take up the work of the same job, or begin another on what a finished one left."""
        given = {"command": command, "keep": self.keep, **self.settings.as_dict()}
        state = self.work.state
        before = state.get("settings", given)
        if before != given:
            changed = [name for name in given if before.get(name) != given[name]]
            deciding = [name for name in changed if name in SKETCHING]
            if not state.get("finished") or deciding:
                name = (deciding or changed)[0]
                raise OutputError(
                    f"{self.work.folder} holds the work of a job with other settings: {name} was "
                    f"{before.get(name)!r} and is {given[name]!r}; run that job again to go on "
                    "with it, or remove the folder"
                )
            self.work.forget("compare", "thin", "write")
            self.work.store.drop("links", "removed", "buckets")
        if "settings" in state:
            self.running.say(f"Going on from the work in {self.work.folder}.")
        state["settings"], state["finished"] = given, False
        self.work.checkpoint()

    def finish(self) -> None:
        """Mark the job as done; a kept work folder then serves other thresholds."""
        self.work.state["finished"] = True
        self.work.checkpoint()
        if self.running.keep_work:
            self.work.release()

    @contextmanager
    def closed_if_it_fails(self) -> Iterator[None]:
        """Let go of the work folder on an error, which may outlive the job in a traceback."""
        try:
            yield
        except BaseException as error:
            if self.is_hopeless(error):
                self.work.give_up()
            else:
                self.work.close()
            raise

    def is_hopeless(self, error: BaseException) -> bool:
        """Tell whether no rerun could go on from the work after an error.

        Sources that are mended are other sources, other settings another job; and where nothing
        was done yet, there is nothing to go on from.
        """
        if not isinstance(error, LookalikeError) or isinstance(error, UnreadableError):
            return False
        return isinstance(error, (SettingsError, SourceError)) or not self.work.state["stages"]

    def _say_what_it_takes(self) -> None:
        total = sum(source.size for source in self.sources)
        if total < LONG_JOB or self.work.state["stages"].get("read", {}).get("done"):
            return
        # Canonical text is about as long as the sources; keys and buckets come to half of it.
        self.running.say(
            f"{size(total)} to read: up to {size(self.running.memory)} of memory, and about "
            f"{size(1.5 * total)} of disk in {self.work.place} (more where sources are compressed)."
        )

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def prepare(self, command: str) -> None:
        """Read, collapse what is identical, choose the shingle and plan."""
        self._begin(command)
        with self._stage("read"):
            self.collection = read_all(
                self.sources,
                self.work,
                CanonicalForm.of(self.settings),
                shingle=self.settings.shingle,
                column=column_of(self.keep),
                running=self.running,
            )
        for note in self.collection.notes:
            self.running.say(note)
        self.texts = self.collection.texts
        needed = BASE_BYTES + DOCUMENT_BYTES * len(self.collection)
        if needed > self.running.memory:
            self.running.say(
                f"{len(self.collection):,} documents take about {size(needed)} of memory, more "
                f"than the {size(self.running.memory)} allowed: that bound will be passed."
            )
        with self._stage("group"):
            self.groups = Groups.of(self.texts, self.running.threads)
            self.rows = self.groups.representatives
        with self._stage("plan"):
            sample = Sample.of(
                self.texts, self.groups, self.collection.form, read=len(self.collection)
            )
            self.recipe, self.plan, self.warnings = choose(
                self.settings, sample, threads=self.running.threads
            )

    def _sketches(self) -> Sketches:
        return sketch(
            self.texts,
            self.rows,
            self.recipe,
            self.work,
            store=self.settings.estimate or self.running.keep_work,
            running=self.running,
        )

    def _verified(self, rows: NDArray[np.int64], threshold: float) -> Compare:
        return lambda first, second: self.recipe.score(
            self.texts, first, second, rows=rows, threshold=threshold, threads=self.running.threads
        )

    def _prefilter(
        self, sketches: Sketches, order: NDArray[np.int64] | None = None
    ) -> Prefilter | None:
        """Make what dismisses candidates by their first bits; `order` puts others in the places."""
        if not self.recipe.prefiltered or self.recipe.by_sketches:
            return None
        bits = sketches.prefilter_bits()
        return self.recipe.prefilter(bits if order is None else bits[order], self.running.threads)

    def _links(self) -> tuple[Links, Sketches | None]:
        """Find the similar pairs of distinct documents."""
        if self.plan.cascade is None:
            with self._stage("compare"):
                found = comparing.exact_links(
                    self.texts,
                    self.rows,
                    self.recipe,
                    self.work,
                    self.running,
                )
            return found, None
        with self._stage("sketch"):
            sketches = self._sketches()
        if (swept := self._swept(sketches)) is not None:
            return swept, sketches
        with self._stage("band"):
            buckets = comparing.make_buckets(sketches, self.work, self.running)
        if self.recipe.by_sketches:
            compare = self._estimated(sketches, self.settings.threshold)
        else:
            compare = self._verified(self.rows, self.settings.threshold)
        with self._stage("compare"):
            links = comparing.links_of(
                buckets,
                sketches,
                compare,
                self.work,
                self.running,
                prefilter=self._prefilter(sketches),
            )
        return links, sketches

    def _swept(self, sketches: Sketches, most: int | None = None) -> Links | None:
        """Find similar pairs among those whose sketches are near, where these are not too many."""
        if not self.recipe.prefiltered or self.recipe.by_sketches or sketches.layout.filtered:
            return None
        bits = self.recipe.key_bits(len(self.rows))
        with self._stage("band"):
            found = comparing.swept(
                sketches, bits, self.recipe.most_differing, self.running, most=most
            )
        if found is None:
            return None
        compare = self._verified(self.rows, self.settings.threshold)
        with self._stage("compare"):
            return comparing.swept_links(found, compare, self.work, self.running)

    def _estimated(self, sketches: Sketches, threshold: float) -> Compare:
        recipe, threads = self.recipe, self.running.threads

        def compare(first: NDArray[np.int64], second: NDArray[np.int64]) -> Scored:
            involved, places = np.unique(np.concatenate([first, second]), return_inverse=True)
            left, right = np.split(places, 2)
            known = sketches.of(involved, recipe.estimated_words)
            found = recipe.estimate(known, left, right, threshold=threshold, threads=threads)
            return found.at(involved)

        return compare

    def _ground(self) -> Ground:
        def spare(name: str, dtype: Any) -> Any:
            self.work.make_room()
            self.work.store.drop(name)
            return self.work.store.column(name, dtype)

        return Ground(
            self.collection.ids,
            self.texts,
            self.groups,
            self.running.memory,
            spare,
        )

    def _summary(self, candidates: int, rejected: int, dismissed: int = 0) -> Summary:
        collection = self.collection
        documents = len(collection)
        empty = int(np.count_nonzero(self.groups.of_document < 0))
        return Summary(
            documents=documents,
            empty=empty,
            identical=documents - empty - len(self.groups),
            candidates=candidates,
            rejected=rejected,
            skipped=dict(collection.skipped),
            warnings=tuple(self.warnings),
            seconds=self.seconds,
            bad=tuple(collection.bad),
            bad_count=collection.bad_count,
            notes=tuple(collection.notes),
            dismissed=dismissed,
        )

    def resolved(self) -> Settings:
        """Give the settings that ran."""
        metric, planned = self.recipe.metric, self.plan.cascade
        weighting = metric.weighting.name if isinstance(metric, Cosine) else None
        return self.settings.resolved(
            shingle=self.recipe.shingle or self.settings.shingle,
            normalise=str(self.recipe.form.normalisation),
            cascade=str(planned) if planned and self.plan.distance is None else None,
            weights=weighting if metric.shingling is not None else None,
        )

    def find(self) -> FindResult:
        """Find the similar pairs."""
        self.prepare("find")
        links, sketches = self._links()
        counted = self.work.stage("compare")
        candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
        compare = self._verified(self.rows, self.recipe.lowest)
        if self.recipe.by_sketches and sketches is not None:
            compare = self._estimated(sketches, self.recipe.lowest)
        self.finish()
        return FindResult(
            plan=self.plan,
            settings=self.resolved(),
            summary=self._summary(candidates, candidates - len(links), dismissed),
            ground=self._ground(),
            links=links,
            compare=compare,
        )

    def contain(self) -> ContainmentResult:
        """Find which documents are inside others."""
        self.prepare("contain")
        threshold = self.settings.containment
        if threshold is None:
            raise SettingsError("containment: use a share above 0, as 0.9")
        if (shingling := self.recipe.metric.shingling) is None:
            raise SettingsError("this is for text: these documents are vectors")
        self.work.store.drop("links")
        links = Links(self.work.store.column("links", LINK))
        with self._stage("compare"):
            blocks = contained(
                Selection(self.texts, self.rows),
                shingling,
                threshold=threshold,
                memory=self.running.memory // 2,
                threads=self.running.threads,
                progress=lambda *done: self.running.progress("compare", *done),
            )
            for block in blocks:
                unknown = np.zeros(len(block.inner))
                links.append(
                    Scored(block.inner, block.outer, block.containment, block.similarity, unknown)
                )
                comparing.make_room_for(links, self.work, self.running)
        self.finish()
        return ContainmentResult(self.resolved(), self._summary(0, 0), self._ground(), links)

    def most_shared(self, most: int) -> tuple[list[SharedPassage], Summary, Ground]:
        """List the passages shared by the most documents, so many."""
        self.prepare("boilerplate")
        if self.collection.form.kind not in ("text", None):
            raise SettingsError(
                f"passages are of text: these documents are {self.collection.form.kind}"
            )
        with self._stage("compare"):
            found = boilerplate.most_shared(
                lambda: Selection(self.texts, self.rows).parts(PIECE_BYTES),
                documents=len(self.rows),
                most=most,
                threads=self.running.threads,
            )
        self.finish()
        return found, self._summary(0, 0), self._ground()

    def dedup(self) -> DedupResult:
        """Keep one of each group of similar documents."""
        self.prepare("dedup")
        references = sum(self.collection.counts[:-1])
        champions, order = self._preferred(references)
        fixed = int(np.count_nonzero(champions < references))
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        if self.plan.cascade is None:
            links, _ = self._links()
            thinned = self._stars_among(links, order, fixed)
        else:
            with self._stage("sketch"):
                sketches = self._sketches()
            swept = self._swept(sketches, most=comparing.FEW * len(order))
            if swept is not None:
                thinned = self._stars_among(swept, order, fixed)
            else:
                thinned = self._thinned(sketches, order, places, fixed)
        return self._stars(champions, order, places, thinned, references)

    def _thinned(
        self,
        sketches: Sketches,
        order: NDArray[np.int64],
        places: NDArray[np.int64],
        fixed: int,
    ) -> comparing.Thinned:
        """Keep greedily, each document compared with kept ones alone."""
        with self._stage("band"):
            buckets = comparing.make_buckets(sketches, self.work, self.running, places=places)
        with self._stage("compare"):
            return comparing.thin(
                buckets,
                sketches,
                self._verified(self.rows[order], self.settings.threshold),
                order,
                self.work,
                self.running,
                fixed=fixed,
                prefilter=self._prefilter(sketches, order),
            )

    def _preferred(self, references: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the document to keep of each group, and the groups in the order of preference."""
        groups, collection = self.groups, self.collection
        if not len(groups) or self.keep == "first":
            return self.rows, np.arange(len(groups))
        by_preference = priorities(
            self.keep,
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

    def _stars_among(self, links: Links, order: NDArray[np.int64], fixed: int) -> comparing.Thinned:
        """Keep greedily among all pairs."""
        if len(links) * STAR_BYTES > self.running.memory:
            raise QuadraticError(
                f"recall 1 found {len(links):,} similar pairs, about "
                f"{size(len(links) * STAR_BYTES)} to choose from, of {size(self.running.memory)} "
                "allowed: use a recall below 1, which compares with kept documents only"
            )
        pairs = links.all()
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        first, second = places[pairs.first], places[pairs.second]
        # Two references are never weighed against each other.
        weighed = np.flatnonzero((first >= fixed) | (second >= fixed))
        found = stars(
            np.arange(len(order)), first[weighed], second[weighed], pairs.similarity[weighed]
        )
        counted = self.work.stage("compare")
        candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
        rejected = candidates - len(links)
        stay = found.kept, found.nearest, found.similarity
        return comparing.Thinned(*stay, candidates, rejected, dismissed)

    def _stars(
        self,
        champions: NDArray[np.int64],
        order: NDArray[np.int64],
        places: NDArray[np.int64],
        thinned: comparing.Thinned,
        references: int,
    ) -> DedupResult:
        groups, ids = self.groups, self.collection.ids
        kept = groups.of_document < 0
        kept[champions[thinned.kept[places]]] = True
        kept[:references] = True
        removed = np.flatnonzero(~kept)
        removed = removed[np.argsort(ids.ranks(removed))]
        place = places[groups.of_document[removed]]
        rows = np.flatnonzero(kept)
        return DedupResult(
            plan=self.plan,
            settings=self.resolved(),
            summary=self._summary(thinned.candidates, thinned.rejected, thinned.dismissed),
            ground=self._ground(),
            kept_rows=rows[rows >= references],
            removed_rows=removed,
            named=champions[order[thinned.nearest[place]]],
            similarity=thinned.similarity[place],
            references=references,
        )
