"""One job from its sources to its result: the order of the stages."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.errors import (
    LookalikeError,
    OutputError,
    QuadraticError,
    SettingsError,
    SourceError,
    UnreadableError,
)
from lookalike.base.memory import size
from lookalike.base.timing import Seconds, timed
from lookalike.base.wording import Message, setting
from lookalike.candidates.identical import Groups
from lookalike.candidates.pairing import Cells, Pairing, SideOrder
from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import grouped_stars, smallest_similarities, stars
from lookalike.cluster.keep import column_of, priorities
from lookalike.cluster.thinning import Thinned
from lookalike.job import compare as comparing
from lookalike.job.read import read_all
from lookalike.job.running import PIECE_BYTES
from lookalike.job.sketch import Sketches, sketch
from lookalike.job.work_folder import Work, difference
from lookalike.kernels.jit import load_if_limited
from lookalike.read.files import file_note_lines
from lookalike.recipe import (
    CanonicalForm,
    JoinResources,
    NearestPair,
    Sample,
    Scored,
    check,
    choose,
)
from lookalike.results import (
    BoilerplateResult,
    ContainmentResult,
    DedupResult,
    FindResult,
    Summary,
)
from lookalike.results.clusters import Clusters
from lookalike.results.dedup import KeptRows
from lookalike.results.documents import Documents
from lookalike.results.nearest import NearestDocuments
from lookalike.results.origin import Origin
from lookalike.results.pairs import LINK, Links
from lookalike.results.record import Run
from lookalike.results.similar_pairs import DirectedPairs, LinkedPairs
from lookalike.results.unread import table_of
from lookalike.text.boilerplate import most_shared
from lookalike.text.documents import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lookalike.candidates.prefilter import Prefilter
    from lookalike.cluster.components import Stars
    from lookalike.job.running import Running
    from lookalike.job.work_folder import Claim
    from lookalike.read import Corpus
    from lookalike.read.source import InMemory
    from lookalike.recipe.metrics import Compare
    from lookalike.score.jaccard import Scored
    from lookalike.score.nearest import Below
    from lookalike.settings import Settings

__all__ = ["Job"]

LONG_JOB_BYTES = 500_000_000
"""Bytes of sources from which a job says beforehand what it will take."""
PAIRS_PER_DOCUMENT = 16
"""Pairs for each document up to which all are compared at once before the kept are chosen."""
STAR_BYTES_PER_PAIR = 150
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
    across: bool = False
    """Pairs are of a document of the corpus and one of the source before it."""
    claimed: Claim | None = None
    """The work folder, where that was claimed before."""
    warnings: Sequence[str] = ()
    """What a user should know before trusting the result."""
    seconds: Seconds = field(default_factory=Seconds)

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
        if self.settings.groups is not None:
            reading["groups"] = self.settings.groups
        if self.running.work is not None and None in reading["sources"]:
            raise SettingsError(f"{setting('work')} is for sources in files: leave it out")
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
                    f"{self.work.folder} holds the work of a job with other settings: "
                    f"{difference(name, before.get(name), given[name])}; run that job again to go "
                    "on with it, or remove the folder"
                )
            for name in ("band", "compare", "contain", "thin", "write"):
                self.work.stage(name).restart()
        if "settings" in state:
            self.running.say(f"Resuming from the work in {self.work.folder}.")
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
        """Let go of the work folder on an error, which may outlive the job in a traceback.

        Where no rerun could go on from it, a folder that was asked for stays as it was found, and
        one that was not goes.
        """
        try:
            yield
        except BaseException as error:
            if not self.cannot_resume(error):
                self.work.close()
            elif self.running.keep_work:
                self.work.give_up()
            else:
                self.work.remove()
            raise

    def cannot_resume(self, error: BaseException) -> bool:
        """Tell whether no rerun could go on from the work after an error.

        Sources that are fixed are other sources, other settings another job; and where nothing
        was done yet, there is nothing to go on from.
        """
        if not isinstance(error, LookalikeError) or isinstance(error, UnreadableError):
            return False
        return isinstance(error, (SettingsError, SourceError)) or not self.work.state["stages"]

    def _say_what_it_takes(self) -> None:
        total = sum(source.size for source in self.sources)
        if total < LONG_JOB_BYTES or self.work.state["stages"].get("read", {}).get("done"):
            return
        # Canonical text is about as long as the sources; keys and buckets come to half of it.
        self.running.say(
            f"{size(total)} to read: up to {size(self.running.memory)} of memory, and about "
            f"{size(1.5 * total)} of disk in {self.work.place} (more where sources are compressed)."
        )

    def prepare(self, command: str) -> None:
        """Read, collapse what is identical, choose the shingle and plan."""
        self.seconds.began = time.perf_counter()
        self.command = command
        self._begin(command)
        with timed(self.seconds, "read"):
            self.collection = read_all(
                self.sources,
                self.work,
                CanonicalForm.of(self.settings),
                shingle=self.settings.shingle,
                column=column_of(self.keep),
                groups=self.settings.groups,
                running=self.running,
            )
        for note in self.collection.notes:
            self.running.say(note)
        for line in file_note_lines(self.collection.noted_files()):
            self.running.say(line)
        if self.collection.skipped:
            self.running.say(self.collection.skipped_line())
        self.texts = self.collection.texts
        needed = BASE_BYTES + DOCUMENT_BYTES * len(self.collection)
        if needed > self.running.memory:
            self.running.say(
                f"{len(self.collection):,} documents take about {size(needed)} of memory, more "
                f"than the {size(self.running.memory)} allowed: that limit will be exceeded."
            )
        with timed(self.seconds, "group"):
            self.groups = Groups.of(self.texts, self.running.threads)
            self.rows = self.groups.representatives
            references = sum(self.collection.counts[:-1]) if self.across else None
            self.pairing = Pairing(references, self.collection.group_labels())
            self.text_pairing = self.pairing.of_texts(self.groups)
        with timed(self.seconds, "plan"):
            sample = Sample.of(
                self.texts, self.groups, self.collection.form, read=len(self.collection)
            )
            running = self.running
            self.recipe, self.plan, self.warnings = choose(
                self.settings,
                sample,
                threads=running.threads,
                memory=running.memory,
                keeper=self.work,
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
        return lambda first, second, below: self.recipe.score(
            self.texts,
            first,
            second,
            rows=rows,
            threshold=threshold,
            threads=self.running.threads,
            below=below,
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
            with timed(self.seconds, "compare"):
                found = comparing.exact_links(
                    self.texts,
                    self.rows,
                    self.recipe,
                    self.work.stage("compare"),
                    self.running,
                    self.text_pairing,
                    fixed=self._reference_groups(),
                )
            return found, None
        with timed(self.seconds, "sketch"):
            sketches = self._sketches()
        if (near := self._near(sketches)) is not None:
            return near, sketches
        sides = self.text_pairing.sides
        across = None if sides is None else SideOrder.of(sides)
        with timed(self.seconds, "band"):
            buckets = comparing.make_buckets(
                sketches, self.work.stage("band"), self.running, across=across
            )
        if self.recipe.by_sketches:
            compare = self._estimated(sketches, self.settings.threshold)
        else:
            compare = self._verified(self.rows, self.settings.threshold)
        with timed(self.seconds, "compare"):
            links = comparing.links_of(
                buckets,
                sketches,
                compare,
                self.work.stage("compare"),
                self.running,
                fixed=self._reference_groups(),
                prefilter=self._prefilter(sketches),
                pairing=self.text_pairing,
                across=across,
            )
        return links, sketches

    def _near(self, sketches: Sketches, max_pairs: int | None = None) -> Links | None:
        """Find similar pairs among those whose sketches are near, where these are not too many."""
        if not self.recipe.prefiltered or self.recipe.by_sketches or sketches.layout.filtered:
            return None
        if self.text_pairing.sides is not None:
            # All in a bucket would meet, and two of one corpus need not.
            return None
        bits = self.recipe.key_bits(len(self.rows))
        with timed(self.seconds, "band"):
            found = comparing.find_near(
                sketches, bits, self.recipe.most_differing, self.running, max_pairs=max_pairs
            )
        if found is None:
            return None
        compare = self._verified(self.rows, self.settings.threshold)
        with timed(self.seconds, "compare"):
            stage, fixed = self.work.stage("compare"), self._reference_groups()
            return comparing.near_links(
                found, compare, stage, self.running, self.text_pairing, fixed=fixed
            )

    def _estimated(
        self, sketches: Sketches, threshold: float, texts: NDArray[np.int64] | None = None
    ) -> Compare:
        """Compare texts by their sketches, or what `texts` says the text of each is."""
        recipe, threads = self.recipe, self.running.threads

        def compare(
            first: NDArray[np.int64], second: NDArray[np.int64], below: Below | None
        ) -> Scored:
            involved, places = np.unique(np.concatenate([first, second]), return_inverse=True)
            left, right = np.split(places, 2)
            of_text = involved if texts is None else texts[involved]
            known = sketches.of(of_text, recipe.estimated_words)
            heard = None if below is None else below.among(involved)
            found = recipe.estimate(
                known, left, right, threshold=threshold, threads=threads, below=heard
            )
            return found.at(involved)

        return compare

    def _documents(self) -> Documents:
        collection = self.collection
        origin = Origin(
            list(self.sources),
            collection.ids,
            collection.counts,
            collection.shards,
            collection.records,
            self.running.skip_bad,
        )
        memory = self.running.memory
        cells = Cells.of(self.groups, self.pairing) if self.pairing.is_bounded else None
        return Documents(collection.ids, self.groups, memory, self.work, origin, cells)

    def _run(self) -> Run:
        *against, sources = self.work.reading["sources"]
        return Run(
            sources=sources or [],
            against=against[0] if against and against[0] else [],
            recipe=self.recipe.fingerprint,
            keep=self.keep,
            job=self.name(self.command),
        )

    def name(self, command: str, *facts: Any) -> str:
        """Name this very job: its sources, how they are read, its settings, and further facts."""
        plain = json.dumps([command, self.work.reading, self.settings.as_dict(), self.keep, *facts])
        return hashlib.sha256(plain.encode()).hexdigest()[:16]

    def _reference_groups(self) -> int:
        """Count the groups, the first ones, that are kept whatever they are similar to."""
        if self.across:
            return 0
        return int(np.searchsorted(self.rows, sum(self.collection.counts[:-1])))

    def _nearest(
        self, stage: str, groups: NDArray[np.int64] | None = None
    ) -> NearestDocuments | None:
        """Name the most similar pair below the threshold that a stage met.

        `groups` are those at the places of the stage, by default each at its own.
        """
        known = self.work.stage(stage).known
        if known.get("nearest") is None:
            return None
        found = NearestPair(*known["nearest"])
        places = np.array([found.first, found.second])
        first, second = places if groups is None else groups[places]
        ids = self.collection.ids
        rows = np.array(self._pair_of(int(first), int(second)))
        if not self.across:
            rows = rows[np.argsort(ids.ranks(rows))]
        a, b = ids.take(rows).to_pylist()
        return NearestDocuments(found.similarity, a, b, whole=known.get("whole", False))

    def _pair_of(self, first: int, second: int) -> tuple[int, int]:
        """Give the first documents of two groups; across two corpora, that of the source first."""
        starts, members = self.groups.starts, self.groups.members
        a, b = (members[starts[one] : starts[one + 1]] for one in (first, second))
        references = self.pairing.references
        if references is not None and a[-1] >= references and b[0] < references:
            return int(a[a >= references][0]), int(b[0])
        if references is not None:
            return int(b[b >= references][0]), int(a[0])
        return int(a[0]), int(b[0])

    def summary(
        self,
        candidates: int = 0,
        rejected: int = 0,
        dismissed: int = 0,
        nearest: NearestDocuments | None = None,
    ) -> Summary:
        """Say what was read and skipped, and what became of candidates."""
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
            warnings=tuple(map(Message, self.warnings)),
            seconds=self.seconds,
            unread=table_of(collection.unread()),
            bad=tuple(collection.bad),
            bad_count=collection.bad_count,
            notes=(
                *collection.notes,
                *(Message(f"{one.path}: {one.note}") for one in collection.noted_files()),
            ),
            dismissed=dismissed,
            references=sum(collection.counts[:-1]),
            score=self._score(),
            nearest=nearest,
        )

    def _score(self) -> str | None:
        """Say by what documents were compared, where they were."""
        if self.command == "contained" or self.settings.rule == "contained":
            return self.plan.score("share")
        return self.plan.score() if self.command in ("find", "dedup") else None

    def resolved(self) -> Settings:
        """Give the settings that ran."""
        planned = None if self.settings.rule == "contained" else self.plan.cascade
        return self.settings.resolved(
            shingle=self.recipe.shingle or self.settings.shingle,
            normalise=str(self.recipe.form.normalisation),
            cascade=str(planned) if planned and self.plan.distance is None else None,
            weights=self.recipe.weights,
        )

    def find(self) -> FindResult:
        """Find the similar pairs."""
        self.prepare("find")
        links, sketches = self._links()
        counted = self.work.stage("compare").known
        candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
        settings, documents = self.resolved(), self._documents()
        similar = LinkedPairs(documents, links, settings, self.seconds, self.across)
        with timed(self.seconds, "cluster"):
            clusters = self._clusters(similar, sketches)
        return FindResult(
            plan=self.plan,
            settings=settings,
            summary=self.summary(
                candidates, candidates - len(links), dismissed, self._nearest("compare")
            ),
            similar=similar,
            run=self._run(),
            grouped=clusters,
            documents=documents,
        )

    def _clusters(self, similar: LinkedPairs, sketches: Sketches | None) -> Clusters:
        """Join similar documents to clusters, and see how alike the members of each are."""
        groups = similar.documents.joined
        rows, lowest = groups.representatives, self.recipe.lowest
        compare = self._verified(rows, lowest)
        if self.recipe.by_sketches and sketches is not None:
            compare = self._estimated(sketches, lowest, self.groups.of_document[rows])
        forest, alone = UnionFind(len(groups)), np.ones(len(groups), np.bool_)
        for block in similar.joined_links():
            forest.unite(block.first, block.second)
            alone[block.first] = alone[block.second] = False
        labels = forest.labels()
        smallest = smallest_similarities(
            labels,
            similar.joined_links(),
            self.texts.fingerprints[rows, 0],
            lambda first, second: compare(first, second, None),
            progress=lambda *done: self.running.progress("cluster", *done),
        )
        if similar.documents.cells is not None:
            # Identical documents that are no pair are not together for being identical.
            labels[alone] = -1
        return Clusters(similar.documents, labels, smallest, similar.by_id.rows, self.across)

    def contain(self) -> ContainmentResult:
        """Find which documents are inside others."""
        self.prepare("contained")
        links, _ = self._containments()
        settings, documents = self.resolved(), self._documents()
        return ContainmentResult(
            settings=settings,
            summary=self.summary(),
            inside=DirectedPairs(documents, links, settings, self.seconds),
            run=self._run(),
            documents=documents,
        )

    def _containments(self) -> tuple[Links, NDArray[np.int64]]:
        """Find which texts are inside others, and how many shingles each of those texts has."""
        threshold = self.settings.containment
        if threshold is None:
            raise SettingsError(f"{setting('containment')}: use a share above 0, as 0.9")
        stage, running = self.work.stage("contain"), self.running
        stage.restart()
        links = Links(stage.column("links", LINK))
        sizes = np.zeros(len(self.rows), np.int64)
        resources = JoinResources(
            running.memory // 2, running.threads, lambda *done: running.progress("compare", *done)
        )
        with timed(self.seconds, "compare"):
            for found in self.recipe.contained(self.texts, self.rows, threshold, resources):
                sizes[found.pairs.first] = found.first_sizes
                sizes[found.pairs.second] = found.second_sizes
                pairs = found.pairs
                allowed = self.text_pairing.may_pair(pairs.first, pairs.second)
                links.append(pairs if allowed is None else pairs.some(allowed))
                comparing.spill_if_large(links, stage, running)
        return links, sizes

    def boilerplate(self, most: int) -> BoilerplateResult:
        """List the passages shared by the most documents, so many."""
        self.prepare("boilerplate")
        if self.collection.form.kind not in ("text", None):
            kind = self.collection.form.kind
            raise SettingsError(f"passages are of text: these documents are {kind}")
        distinct = len(self.rows)
        with timed(self.seconds, "compare"):
            found = most_shared(
                lambda: Selection(self.texts, self.rows).parts(PIECE_BYTES),
                documents=distinct,
                most=most,
                threads=self.running.threads,
            )
        passages = {
            "documents": pa.array([one.documents for one in found], pa.int64()),
            "share": pa.array([one.documents / distinct for one in found], pa.float64()),
            "words": pa.array([one.words for one in found], pa.int64()),
            "text": pa.array([one.text for one in found], pa.string()),
        }
        return BoilerplateResult(
            settings=self.resolved(),
            summary=self.summary(),
            passages=pa.table(passages),
            run=self._run(),
            documents=self._documents(),
        )

    def dedup(self) -> DedupResult:
        """Keep one of each group of similar documents."""
        self.prepare("dedup")
        references = sum(self.collection.counts[:-1])
        contained = self.settings.rule == "contained"
        if self.pairing.labels is not None:
            return self._dedup_in_groups(references, contained=contained)
        preferred, order = self._preferred(self.groups, references)
        fixed = int(np.count_nonzero(preferred < references))
        if contained:
            links, sizes = self._containments()
            order = _larger_first(order, fixed, sizes)
            thinned = self._stars_among(links, order, fixed, directed=True)
            return self._stars(self.groups, preferred, order, thinned, references, None)
        places = _places(order)
        if self.plan.cascade is None:
            links, _ = self._links()
            thinned = self._stars_among(links, order, fixed)
            nearest = self._nearest("compare")
        else:
            with timed(self.seconds, "sketch"):
                sketches = self._sketches()
            near = self._near(sketches, max_pairs=PAIRS_PER_DOCUMENT * len(order))
            if near is not None:
                thinned = self._stars_among(near, order, fixed)
                nearest = self._nearest("compare")
            else:
                thinned = self._thinned(sketches, order, places, fixed)
                nearest = self._nearest("thin", order)
        return self._stars(self.groups, preferred, order, thinned, references, nearest)

    def _dedup_in_groups(self, references: int, *, contained: bool) -> DedupResult:
        """Keep greedily where documents of one group are no pair, identical ones either.

        Those that are identical and of one group stay together, or go together.
        """
        links, sizes = self._containments() if contained else (self._links()[0], None)
        cells = Cells.of(self.groups, Pairing(references, self.pairing.labels))
        preferred, order = self._preferred(cells.documents, references)
        fixed = int(np.count_nonzero(preferred < references))
        texts = self.groups.of_document[preferred]
        if sizes is not None:
            order = _larger_first(order, fixed, sizes[texts])
        labels = np.empty(0, np.int64) if cells.labels is None else cells.labels
        pairs = self._all_pairs(links, directed=contained)
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
        thinned = self._counted(found, len(links))
        nearest = None if contained else self._nearest("compare")
        return self._stars(
            cells.documents, preferred, order, thinned, references, nearest, together=True
        )

    def _thinned(
        self,
        sketches: Sketches,
        order: NDArray[np.int64],
        places: NDArray[np.int64],
        fixed: int,
    ) -> Thinned:
        """Keep greedily, each document compared with kept ones alone."""
        with timed(self.seconds, "band"):
            buckets = comparing.make_buckets(
                sketches, self.work.stage("band"), self.running, places=places
            )
        with timed(self.seconds, "compare"):
            return comparing.thin(
                buckets,
                sketches,
                self._verified(self.rows[order], self.settings.threshold),
                order,
                self.work.stage("thin"),
                self.running,
                fixed=fixed,
                prefilter=self._prefilter(sketches, order),
            )

    def _preferred(
        self, groups: Groups, references: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the document to keep of each group, and the groups in the order of preference."""
        collection = self.collection
        if not len(groups) or self.keep == "first":
            first = groups.representatives
            return first, np.argsort(first, kind="stable")  # quick where they are in order
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

    def _stars_among(
        self, links: Links, order: NDArray[np.int64], fixed: int, *, directed: bool = False
    ) -> Thinned:
        """Keep greedily among all pairs; of directed ones the first is inside the second."""
        pairs = self._all_pairs(links, directed=directed)
        places = _places(order)
        first, second = places[pairs.first], places[pairs.second]
        # A reference is never removed, nor weighed against another.
        weighed = np.flatnonzero((first >= fixed) | ((second >= fixed) & (not directed)))
        found = stars(
            np.arange(len(order)), first[weighed], second[weighed], pairs.similarity[weighed]
        )
        return self._counted(found, len(links))

    def _all_pairs(self, links: Links, *, directed: bool) -> Scored:
        """Give all pairs at once, if there is room to choose from them."""
        needed = len(links) * STAR_BYTES_PER_PAIR
        if needed > self.running.memory:
            less = f"use {setting('recall', 0.999)} or less, which compares with kept ones only"
            if directed:
                less = f"raise {setting('memory')}, or {setting('containment')} if it is below 1"
            elif self.settings.groups is not None:
                less = f"raise {setting('memory')}, or {setting('threshold')}"
            raise QuadraticError(
                f"{len(links):,} {'pairs' if directed else 'similar pairs'} were found, about "
                f"{size(needed)} to choose from, of {size(self.running.memory)} allowed: {less}"
            )
        return links.all()

    def _counted(self, found: Stars, accepted: int) -> Thinned:
        """Put to what is kept what became of candidates, of which so many were similar."""
        counted = self.work.stage("compare").known
        candidates, dismissed = counted.get("candidates", 0), counted.get("dismissed", 0)
        # What is contained is found without candidates.
        rejected = max(candidates - accepted, 0)
        return Thinned(found.kept, found.nearest, found.similarity, candidates, rejected, dismissed)

    def _stars(
        self,
        groups: Groups,
        preferred: NDArray[np.int64],
        order: NDArray[np.int64],
        thinned: Thinned,
        references: int,
        nearest: NearestDocuments | None,
        *,
        together: bool = False,
    ) -> DedupResult:
        """Give the result of which groups stay: one document of each, or together all."""
        ids, places = self.collection.ids, _places(order)
        kept = groups.of_document < 0
        if together:
            filled = np.flatnonzero(~kept)
            kept[filled] = thinned.kept[places][groups.of_document[filled]]
        else:
            kept[preferred[thinned.kept[places]]] = True
        kept[:references] = True
        removed = np.flatnonzero(~kept)
        removed = removed[np.argsort(ids.ranks(removed))]
        place = places[groups.of_document[removed]]
        rows = np.flatnonzero(kept)
        return DedupResult(
            plan=None if self.settings.rule == "contained" else self.plan,
            settings=self.resolved(),
            summary=self.summary(thinned.candidates, thinned.rejected, thinned.dismissed, nearest),
            run=self._run(),
            thinned=KeptRows(
                kept=rows[rows >= references],
                removed=removed,
                named=preferred[order[thinned.nearest[place]]],
                similarity=thinned.similarity[place],
                references=references,
                empty=int(np.count_nonzero(groups.of_document[references:] < 0)),
            ),
            documents=self._documents(),
        )


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
