"""The order of the stages: read, normalise, shingle, sketch, band, verify, cluster."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.base.columns import unwritable
from lookalike.cluster.keep import column_of
from lookalike.job.job import Job
from lookalike.job.running import Progress, Running
from lookalike.job.sketch_table import Wanted, sketch_tables
from lookalike.job.work_folder import SPOOL, SPOOL_BEFORE, claim
from lookalike.read import open_corpus, read
from lookalike.read.source import InMemory
from lookalike.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from lookalike.job.work_folder import Claim
    from lookalike.read import Corpus
    from lookalike.results import ContainmentResult, DedupResult, FindResult

__all__ = [
    "Columns",
    "Job",
    "Progress",
    "Running",
    "contained",
    "dedup",
    "find",
    "job_on_files",
    "sketch",
]


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
    metric: str = "jaccard",
    weights: str | None = None,
    simhash: int | None = None,
    normalise: str = "default",
    seed: int = 1,
    ignore: str | None = None,
    max_df: float | None = None,
    text: str | None = None,
    vector: str | None = None,
    id: str | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
    memory: str | float | None = None,
    work: str | Path | None = None,
    progress: Progress | None = None,
) -> FindResult:
    """Find the pairs of documents whose similarity reaches the threshold.

    The source is a list or dict of texts or of lists of tokens, an Arrow, pandas or polars column
    of either, a table (`text` and `id` name its columns), or a path, pattern or address of files;
    with the metric `cosine` also a NumPy array or a SciPy sparse matrix with a vector in each row,
    or a column of vectors, which `vector` names. What follows up to `max_df` decides the result,
    see `Settings`; `ignore` is a text whose shingles do not count. The rest says how the job runs:
    with `skip_bad`, records that cannot be read are passed over and named; `memory` is a bound, as
    "2GB"; `work` is a folder that is kept, from which a killed job goes on and another threshold is
    answered without reading again.
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
        metric=metric,
        weights=weights,
        simhash=simhash,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=ignore,
    )
    running = Running.of(
        threads=threads, memory=memory, work=work, skip_bad=skip_bad, progress=progress
    )
    columns = Columns(text, vector, id)
    job = _job(source, settings, running, columns)
    with job.closed_if_it_fails():
        return job.find()


def dedup(
    source: Any,
    *,
    keep: str = "first",
    against: Any = None,
    threshold: float = 0.8,
    recall: float = 0.99,
    shingle: str = "auto",
    multiset: bool = False,
    bands: int | None = None,
    rows: int | None = None,
    cascade: str | None = None,
    metric: str = "jaccard",
    weights: str | None = None,
    normalise: str = "default",
    seed: int = 1,
    ignore: str | None = None,
    max_df: float | None = None,
    text: str | None = None,
    vector: str | None = None,
    id: str | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
    memory: str | float | None = None,
    work: str | Path | None = None,
    progress: Progress | None = None,
) -> DedupResult:
    """Drop documents that are similar to one that is kept; takes the options of `find` too.

    `keep` says which of similar documents stays: first, last, longest, shortest, or max:COLUMN or
    min:COLUMN of a table. `against` is a reference corpus: what is similar to one of its documents
    goes, and it is never touched itself. Nothing is removed on an estimate.
    """
    settings = Settings(
        threshold=threshold,
        recall=recall,
        shingle=shingle,
        multiset=multiset,
        bands=bands,
        rows=rows,
        cascade=cascade,
        metric=metric,
        weights=weights,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=ignore,
    )
    running = Running.of(
        threads=threads, memory=memory, work=work, skip_bad=skip_bad, progress=progress
    )
    columns = Columns(text, vector, id)
    job = _job(source, settings, running, columns, keep=keep, against=against)
    with job.closed_if_it_fails():
        result = job.dedup()
        job.finish()
    return replace(result, take=job.collection.as_given)


def contained(
    source: Any,
    *,
    containment: float = 0.9,
    shingle: str = "auto",
    multiset: bool = False,
    normalise: str = "default",
    ignore: str | None = None,
    max_df: float | None = None,
    text: str | None = None,
    id: str | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
    memory: str | float | None = None,
    progress: Progress | None = None,
) -> ContainmentResult:
    """Find the documents of which at least this share of the shingles is in another.

    Each pair has a direction: `a` is inside `b`. Every such pair is found, without sketches.
    """
    settings = Settings(
        shingle=shingle,
        multiset=multiset,
        normalise=normalise,
        max_df=max_df,
        ignore=ignore,
        containment=containment,
    )
    running = Running.of(threads=threads, memory=memory, skip_bad=skip_bad, progress=progress)
    job = _job(source, settings, running, Columns(text, id=id))
    with job.closed_if_it_fails():
        return job.contain()


def sketch(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    rows: int = 128,
    bits: int = 256,
    shingle: str = "auto",
    multiset: bool = False,
    weights: str | None = None,
    normalise: str = "default",
    seed: int = 1,
    ignore: str | None = None,
    max_df: float | None = None,
    text: str | None = None,
    vector: str | None = None,
    id: str | None = None,
    skip_bad: bool = False,
    threads: int | None = None,
    memory: str | float | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Give the sketches of documents: a row each, in the order of the source.

    The columns are `id` and some of `simhash`, a 64-bit fingerprint, `minhash`, a signature of
    so many `rows`, and `bits` of hyperplanes, 32 to a word: by default the first two, or the last
    for vectors. An empty document has nulls.
    """
    import pyarrow as pa

    wanted = Wanted(columns, rows, bits, multiset)
    settings = Settings(
        shingle=shingle,
        metric="cosine",
        weights=weights,
        normalise=normalise,
        seed=seed,
        max_df=max_df,
        ignore=ignore,
    )
    running = Running.of(threads=threads, memory=memory, skip_bad=skip_bad, progress=progress)
    job = _job(source, settings, running, Columns(text, vector, id))
    with job.closed_if_it_fails():
        return pa.concat_tables([*sketch_tables(job, wanted)])


class Columns(NamedTuple):
    """The columns that hold the text or the vector, and the id, where they are named."""

    text: str | None = None
    vector: str | None = None
    id: str | None = None


def _job(
    source: Any,
    settings: Settings,
    running: Running,
    columns: Columns,
    *,
    keep: str = "first",
    against: Any = None,
) -> Job:
    """Make the job on a source of any kind."""
    on_files = isinstance(source, (str, os.PathLike))
    if on_files and (against is None or isinstance(against, (str, os.PathLike))):
        return job_on_files(
            [os.fspath(source)],
            settings,
            running,
            columns,
            keep=keep,
            against=[] if against is None else [os.fspath(against)],
        )
    sources: list[Corpus | InMemory] = []
    if against is not None:
        sources.append(_opened(against, columns, None, running))
    sources.append(_opened(source, columns, column_of(keep), running))
    return Job(sources, settings, running, columns._asdict(), keep)


def _opened(
    source: Any, columns: Columns, column: str | None, running: Running
) -> Corpus | InMemory:
    if isinstance(source, (str, os.PathLike)):
        return open_corpus(
            [source],
            **columns._asdict(),
            columns=(column,) if column else (),
            skip_bad=running.skip_bad,
            memory=running.memory,
        )
    return InMemory(read(source, **columns._asdict()), column, source=source)


def job_on_files(
    paths: Sequence[str],
    settings: Settings,
    running: Running,
    columns: Columns,
    *,
    keep: str = "first",
    against: Sequence[str] = (),
) -> Job:
    """Make the job of a command on files of any kind."""
    column, named = column_of(keep), columns._asdict()
    allowed: dict[str, Any] = {"skip_bad": running.skip_bad, "memory": running.memory}
    with _standard_input(paths, running) as (spool, claimed):
        sources: list[Corpus | InMemory] = []
        if against:
            sources.append(open_corpus(against, **named, **allowed))
        sources.append(
            open_corpus(
                paths,
                **named,
                columns=(column,) if column else (),
                **allowed,
                spool=spool,
            )
        )
        return Job(sources, settings, running, named, keep, claimed)


@contextmanager
def _standard_input(
    paths: Sequence[str], running: Running
) -> Iterator[tuple[Path | None, Claim | None]]:
    """Give a place for a copy of standard input, where that is read and there is a work folder.

    The folder is claimed before anything in it is replaced, and where it then turns out to be that
    of another job, the copy that was there before comes back.
    """
    if running.work is None or "-" not in paths:
        yield None, None
        return
    claimed = claim(running.work)
    spool, before = running.work / SPOOL, running.work / SPOOL_BEFORE
    try:
        if spool.exists():
            shutil.rmtree(before, ignore_errors=True)
            spool.rename(before)
        spool.mkdir()
        yield spool, claimed
        shutil.rmtree(before, ignore_errors=True)
    except BaseException as error:
        if before.exists():
            shutil.rmtree(spool, ignore_errors=True)
            before.rename(spool)
        claimed.undo()
        if isinstance(error, OSError):
            raise unwritable(spool, error) from None
        raise
