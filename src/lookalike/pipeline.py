"""The order of the stages: read, normalise, shingle, sketch, band, verify, cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike import background as sampling
from lookalike import band, exact, minhash, planning, verify
from lookalike.errors import QuadraticError, SettingsError, SourceError
from lookalike.groups import Groups
from lookalike.keep import priorities
from lookalike.normalise import Canonical, InvalidTextError, Normalisation, normalise
from lookalike.read import Documents, read
from lookalike.results import DedupResult, FindResult, Summary
from lookalike.settings import Settings
from lookalike.shingle import PIECE, Shingling, element_sets
from lookalike.threads import available, in_order, pieces
from lookalike.verify import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.planning import Plan

__all__ = ["Progress", "dedup", "find", "search"]

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and how much there is."""

MOST_PAIRS = 50_000_000
"""Pairs of distinct documents that are held, at 40 bytes each."""
SCRIPT_SAMPLE = 200
"""Documents that tell the script of a corpus."""
LEAST_ESTIMATED = 128
"""Rows of a signature that scores are estimated from, at the least."""


def find(
    source: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    shingle: str = "auto",
    multiset: bool = False,
    bands: int | None = None,
    rows: int | None = None,
    cascade: str | None = None,
    estimate: bool = False,
    normalise: str = "default",
    seed: int = 1,
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FindResult:
    """Find the pairs of documents whose similarity reaches the threshold.

    The source is a list or dict of texts, an Arrow, pandas or polars column, a table (`text` and
    `id` name its columns), or a path. Everything after it but `threads` and `progress` decides the
    result; see `Settings`.
    """
    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        estimate=estimate,
        normalise=normalise,
        seed=seed,
    )
    return search(read(source, text=text, id=id), settings, threads=threads, progress=progress)


def dedup(
    source: Any,
    *,
    keep: str = "first",
    threshold: float = 0.8,
    recall: float = 0.99,
    shingle: str = "auto",
    multiset: bool = False,
    bands: int | None = None,
    rows: int | None = None,
    cascade: str | None = None,
    normalise: str = "default",
    seed: int = 1,
    text: str | None = None,
    id: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DedupResult:
    """Drop documents that are similar to one that is kept; takes the options of `find` too.

    `keep` says which of similar documents stays: first, last, longest, shortest, or max:COLUMN or
    min:COLUMN of a table. Nothing is removed on an estimate.
    """
    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        normalise=normalise,
        seed=seed,
    )
    documents = read(source, text=text, id=id)
    order = priorities(documents, keep)
    found = search(documents, settings, threads=threads, progress=progress)
    return DedupResult.of(found, order, source)


def search(
    documents: Documents,
    settings: Settings,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FindResult:
    """Run the stages on documents already read."""
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise SettingsError(f"threads {threads!r}: use a whole number from 1")
    return _Job(documents, settings, threads or available(), progress or _silent).run()


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


@dataclass
class _Job:
    documents: Documents
    settings: Settings
    threads: int
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self) -> FindResult:
        options = Normalisation.parse(self.settings.normalise)
        with self._stage("normalise"):
            canonical = self._normalise(options)
            groups = Groups.of(canonical)
        with self._stage("plan"):
            shingling, plan, warnings = self._plan(canonical, groups)
        with self._stage("sketch"):
            signatures = self._sign(canonical, groups, shingling, plan)
        with self._stage("compare"):
            scored, candidates = self._compare(canonical, groups, shingling, plan, signatures)
        empty = int(np.count_nonzero(groups.of_document < 0))
        return FindResult(
            documents=self.documents,
            canonical=canonical,
            groups=groups,
            scored=scored,
            plan=plan,
            settings=self.settings.resolved(
                shingle=str(shingling),
                normalise=str(options),
                cascade=str(plan.cascade) if plan.cascade else None,
            ),
            signatures=signatures if self.settings.estimate else None,
            summary=Summary(
                documents=len(self.documents),
                empty=empty,
                identical=len(self.documents) - empty - len(groups),
                candidates=candidates,
                rejected=candidates - len(scored),
                skipped=dict(self.documents.skipped),
                warnings=warnings,
                seconds=self.seconds,
            ),
        )

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def _normalise(self, options: Normalisation) -> Canonical:
        texts = self.documents.texts
        lengths = _byte_lengths(texts)

        def work(piece: slice) -> Canonical:
            try:
                return normalise(texts[piece.start : piece.stop], options)
            except InvalidTextError as error:
                name = self.documents.ids[piece.start + error.row].as_py()
                raise SourceError(
                    f"document {name!r} is not valid UTF-8 at byte {error.offset + 1}: "
                    "mend or remove it"
                ) from None

        parts = []
        done = 0
        for part in in_order(work, pieces(lengths, PIECE), self.threads):
            parts.append(part)
            done += len(part)
            self.progress("normalise", done, len(texts))
        return Canonical.joined(parts)

    def _plan(
        self, canonical: Canonical, groups: Groups
    ) -> tuple[Shingling, Plan, tuple[str, ...]]:
        chosen = sampling.sample(canonical, groups.representatives)
        multiset = self.settings.multiset
        if self.settings.shingle == "auto":
            usual = sampling.usual_size(canonical, groups.representatives[:SCRIPT_SAMPLE])
            shingling, background, reason = sampling.choose_shingle(
                canonical, chosen, multiset=multiset, smallest=usual
            )
        else:
            shingling = Shingling.parse(self.settings.shingle, multiset=multiset)
            background = sampling.measure(canonical, chosen, shingling)
            reason = "as given"
        doubts = sampling.doubts(canonical, chosen, shingling, background)
        plan = planning.plan_for(self.settings, len(groups), background)
        estimated = max(plan.signature, LEAST_ESTIMATED) if self.settings.estimate else 0
        name = f"{shingling} multiset" if multiset else str(shingling)
        plan = replace(plan, shingle=name, shingle_reason=reason, estimated=estimated)
        return shingling, plan, tuple(doubts)

    def _sign(
        self, canonical: Canonical, groups: Groups, shingling: Shingling, plan: Plan
    ) -> NDArray[np.uint32]:
        if plan.cascade is None:
            return np.empty((len(groups), 0), np.uint32)
        signatures, _ = minhash.sign_texts(
            canonical,
            shingling,
            rows=max(plan.signature, plan.estimated),
            seed=self.settings.seed,
            chosen=groups.representatives,
            threads=self.threads,
            progress=lambda done: self.progress("sketch", done, len(groups)),
        )
        return signatures

    def _compare(
        self,
        canonical: Canonical,
        groups: Groups,
        shingling: Shingling,
        plan: Plan,
        signatures: NDArray[np.uint32],
    ) -> tuple[Scored, int]:
        """Give the verified pairs of groups and the number of candidates."""
        threshold, threads = self.settings.threshold, self.threads
        rows = groups.representatives
        if plan.cascade is None:
            sets = element_sets(canonical, shingling, rows=rows, threads=threads)
            blocks = exact.exact_candidates(
                sets, threshold=threshold, progress=lambda *done: self.progress("compare", *done)
            )
        else:
            blocks = band.candidates(
                signatures,
                plan.cascade,
                threads=threads,
                progress=lambda *done: self.progress("compare", *done),
            )
        parts: list[Scored] = []
        candidates = pairs = 0
        for first, second in blocks:
            candidates += len(first)
            if plan.cascade is None:
                part = verify.verify(sets, first, second, threshold=threshold, threads=threads)
            elif self.settings.estimate:
                part = verify.estimate(
                    signatures, first, second, threshold=threshold, threads=threads
                )
            else:
                part = verify.verify_texts(
                    canonical, shingling, rows, first, second, threshold=threshold, threads=threads
                )
            parts.append(part)
            pairs += len(part)
            if pairs > MOST_PAIRS:
                raise QuadraticError(
                    f"more than {MOST_PAIRS:,} pairs of {len(groups):,} distinct documents are "
                    f"similar: they are nearly all alike at {threshold:g}; raise the threshold"
                )
        return Scored.joined(parts), candidates


def _byte_lengths(texts: Any) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.binary_length(texts), 0)
    numbers: NDArray[np.int64] = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
