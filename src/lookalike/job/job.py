"""The stages that all jobs share: read, collapse, plan, sketch, bring together, compare."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import (
    LookalikeError,
    OutputError,
    SettingsError,
    SourceError,
    UnreadableError,
)
from lookalike.base.memory import size
from lookalike.base.timing import Seconds, timed
from lookalike.base.wording import Message, quoted, setting
from lookalike.candidates.identical import Groups
from lookalike.candidates.pairing import Cells, Pairing, SideOrder
from lookalike.cluster.keep import column_of
from lookalike.job import compare as comparing
from lookalike.job.read import read_all
from lookalike.job.seen import LOOK_UP
from lookalike.job.sketch import Sketches, sketch
from lookalike.job.skipped import skipped_line
from lookalike.job.work_folder import Work, difference
from lookalike.kernels.jit import load_if_limited
from lookalike.read.files import file_note_lines
from lookalike.recipe import (
    CanonicalForm,
    NearestPair,
    Sample,
    Scored,
    check,
    choose,
)
from lookalike.results import (
    Summary,
)
from lookalike.results.documents import Documents
from lookalike.results.nearest import NearestDocuments
from lookalike.results.origin import Origin
from lookalike.results.record import Run
from lookalike.results.unread import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.candidates.prefilter import Prefilter
    from lookalike.job.running import Running
    from lookalike.job.seen import Seen
    from lookalike.job.work_folder import Claim
    from lookalike.read import Corpus
    from lookalike.read.source import InMemory
    from lookalike.recipe.metrics import Compare
    from lookalike.results.ids import Ids
    from lookalike.results.pairs import Links
    from lookalike.score.jaccard import Scored
    from lookalike.score.nearest import Below
    from lookalike.settings import Settings

__all__ = ["Job"]

LONG_JOB_BYTES = 500_000_000
"""Bytes of sources from which a job says beforehand what it will take."""
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
    asked_reading: Mapping[str, Any] = field(default_factory=dict)
    """How the sources are read, as it was asked for: what the record of the run says of it."""
    skipped_in: Path | None = None
    """The file that will name all that was skipped."""
    seen: Seen | None = None
    """Indexes that documents are looked up in, whose recipe then is that of the job."""
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
        if self.seen is not None:
            reading |= self.seen.reading
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
            self._restart()
        elif self.seen is not None and state.get("finished") and not self.seen.grows:
            # The index may have changed since.
            self._restart()
        if "settings" in state:
            self.running.say(f"Resuming from the work in {self.work.folder}.")
        state["settings"], state["finished"] = given, False
        self.work.checkpoint()

    def _restart(self) -> None:
        """Forget all that another threshold, or an index, decides."""
        stages = ["band", "compare", "contain", "thin", "write"]
        if self.seen is not None:
            # Others are then left to be sketched.
            stages += [LOOK_UP, "sketch"]
        for name in stages:
            self.work.stage(name).restart()

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

    def prepare(self, command: str, expected: int | None = None) -> None:
        """Read, collapse what is identical, choose the shingle and plan.

        Where so many documents are `expected`, these are a sample of them.
        """
        self.seconds.began = time.perf_counter()
        self.command = command
        self._begin(command)
        with timed(self.seconds, "read"):
            self.collection = read_all(
                self.sources,
                self.work,
                CanonicalForm.of(self.settings),
                shingle=self.settings.shingle if self.seen is None else "auto",
                column=column_of(self.keep),
                groups=self.settings.groups,
                described=None if self.seen is None else self.seen.described,
                running=self.running,
            )
        if self.seen is not None:
            self.seen.check(self.collection.form)
            for name in self._never_described():
                self.running.say(f"No document has a value in column {quoted(name)}.")
        for note in self.collection.notes:
            self.running.say(note)
        for line in file_note_lines(self.collection.noted_files()):
            self.running.say(line)
        if self.collection.skipped:
            unread = self.collection.unread()
            place = self.skipped_in or f"with {setting('out')}, skipped.jsonl"
            self.running.say(skipped_line(self.collection.skipped, unread, f"{place} names all"))
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
        if self.seen is not None:
            self.recipe = self.seen.recipe
            self.plan = replace(self.seen.plan, documents=len(self.groups))
            return
        with timed(self.seconds, "plan"):
            sample = Sample.of(
                self.texts, self.groups, self.collection.form, read=len(self.collection)
            )
            running = self.running
            self.recipe, self.plan, self.warnings = choose(
                self.settings,
                sample,
                threads=running.threads,
                memory=running.memory if expected is None else None,
                keeper=self.work,
                expected=expected or 0,
            )

    def _never_described(self) -> list[str]:
        """Name the columns to be kept of which no document has a value: perhaps misspelled ones."""
        described = None if self.seen is None else self.seen.described
        if described is None or not self.collection.counts[-1]:
            return []
        return [one for one in described.names if one not in self.collection.described_types]

    def sketched(self) -> Sketches:
        """Sketch the distinct documents."""
        return sketch(
            self.texts,
            self.rows,
            self.recipe,
            self.work,
            store=self.settings.estimate or self.running.keep_work,
            running=self.running,
        )

    def verified(self, rows: NDArray[np.int64], threshold: float) -> Compare:
        """Give what compares documents, by their places in `rows`, exactly."""
        return lambda first, second, below: self.recipe.score(
            self.texts,
            first,
            second,
            rows=rows,
            threshold=threshold,
            threads=self.running.threads,
            below=below,
        )

    def prefilter(
        self, sketches: Sketches, order: NDArray[np.int64] | None = None
    ) -> Prefilter | None:
        """Make what dismisses candidates by their first bits; `order` puts others in the places."""
        if not self.recipe.prefiltered or self.recipe.by_sketches:
            return None
        bits = sketches.prefilter_bits()
        return self.recipe.prefilter(bits if order is None else bits[order], self.running.threads)

    def links(self) -> tuple[Links, Sketches | None]:
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
                    fixed=self.reference_groups(),
                )
            return found, None
        with timed(self.seconds, "sketch"):
            sketches = self.sketched()
        if (near := self.near_links(sketches)) is not None:
            return near, sketches
        sides = self.text_pairing.sides
        across = None if sides is None else SideOrder.of(sides)
        with timed(self.seconds, "band"):
            buckets = comparing.make_buckets(
                sketches, self.work.stage("band"), self.running, across=across
            )
        if self.recipe.by_sketches:
            compare = self.estimated(sketches, self.settings.threshold)
        else:
            compare = self.verified(self.rows, self.settings.threshold)
        with timed(self.seconds, "compare"):
            links = comparing.links_of(
                buckets,
                sketches,
                compare,
                self.work.stage("compare"),
                self.running,
                fixed=self.reference_groups(),
                prefilter=self.prefilter(sketches),
                pairing=self.text_pairing,
                across=across,
            )
        return links, sketches

    def near_links(self, sketches: Sketches, max_pairs: int | None = None) -> Links | None:
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
        compare = self.verified(self.rows, self.settings.threshold)
        with timed(self.seconds, "compare"):
            stage, fixed = self.work.stage("compare"), self.reference_groups()
            return comparing.near_links(
                found, compare, stage, self.running, self.text_pairing, fixed=fixed
            )

    def estimated(
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

    def documents(self, seen: Ids | None = None) -> Documents:
        """Give the documents as a result holds them: ids, copies, and where they came from.

        `seen` are ids of documents in an index that some are similar to.
        """
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
        return Documents(collection.ids, self.groups, memory, self.work, origin, cells, seen)

    def run(self) -> Run:
        """Give what is written down of this run."""
        *against, sources = self.work.reading["sources"]
        return Run(
            sources=sources or [],
            against=against[0] if against and against[0] else [],
            recipe=self.recipe.fingerprint,
            keep=self.keep,
            job=self.name(self.command),
            reading=self.asked_reading,
            indexes=[] if self.seen is None else [*self.seen.addresses],
            named={
                name: [*source.names]
                for name, source in zip(("source", "reference"), self.sources[::-1], strict=False)
                if source.names
            },
            folder=_current_folder(),
        )

    def name(self, command: str, *facts: Any) -> str:
        """Name this very job: its sources, how they are read, its settings, and further facts."""
        plain = json.dumps([command, self.work.reading, self.settings.as_dict(), self.keep, *facts])
        return hashlib.sha256(plain.encode()).hexdigest()[:16]

    def reference_groups(self) -> int:
        """Count the groups, the first ones, that are kept whatever they are similar to."""
        if self.across:
            return 0
        return int(np.searchsorted(self.rows, sum(self.collection.counts[:-1])))

    def nearest(
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
        texts = [self.groups.members_of(int(one)) for one in (first, second)]
        pair = self.pairing.first_pair(*texts)
        if pair is None:
            return None
        rows = np.array(pair)
        if not self.across:
            rows = rows[np.argsort(ids.ranks(rows))]
        a, b = ids.take(rows).to_pylist()
        return NearestDocuments(found.similarity, a, b, whole=known.get("whole", False))

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


def _current_folder() -> str:
    """Give the folder that relative names start from; nothing where it was removed."""
    try:
        return os.getcwd()  # noqa: PTH109 - as a name
    except OSError:
        return ""
