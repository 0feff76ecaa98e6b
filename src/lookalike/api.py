"""The one door: what users call from Python, and all that every face calls.

Heavy parts load when they are used: to compare two texts takes none of those of a job.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from numbers import Integral
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from lookalike.base.errors import LookalikeError, SettingsError, SourceError
from lookalike.base.option_types import check_path
from lookalike.base.options import takes, takes_two
from lookalike.base.progress import asked_for
from lookalike.base.wording import count, setting
from lookalike.job.given import settings_from, text_of
from lookalike.settings import (
    BoilerplateOptions,
    CompareAllOptions,
    CompareOptions,
    ContainedOptions,
    DedupOptions,
    FindOptions,
    PlanCorpusOptions,
    ReportOptions,
    SketchFileOptions,
    SketchOptions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from lookalike.index.dedup import Consulted
    from lookalike.job.job import Job
    from lookalike.job.running import Progress
    from lookalike.planning.plan import Plan
    from lookalike.reports.writing import Page
    from lookalike.results import (
        BoilerplateResult,
        ContainmentResult,
        DedupResult,
        FindResult,
        Summary,
    )
    from lookalike.score.comparison import Comparison, Comparisons

__all__ = [
    "boilerplate",
    "compare",
    "compare_all",
    "contained",
    "dedup",
    "find",
    "paths",
    "plan_corpus",
    "report",
    "sketch",
    "write_sketches",
]

Found = TypeVar("Found")
MIN_COMPARED, MAX_COMPARED = 2, 100
"""Documents that are compared each with each: tables of more cannot be read."""


class _Path(str, os.PathLike[str]):
    """A path, pattern or address as it was written; `Path` would make one slash of two."""

    __slots__ = ()

    def __fspath__(self) -> str:
        """Give it as it was written."""
        return str(self)


def paths(*names: str | os.PathLike[str]) -> list[os.PathLike[str]]:
    """Name several folders, files, patterns or addresses as one source.

    A list of strings is a list of texts; a list of paths, as this one or of `Path` objects, names
    files.
    """
    for name in names:
        check_path("paths", name)
    return [_Path(os.fspath(name)) for name in names]


@takes(FindOptions)
def find(source: Any, options: FindOptions) -> FindResult:
    """Find the pairs of documents whose similarity reaches the threshold.

    The source is a list or dict of texts or of lists of tokens, an Arrow, pandas or polars column
    of either, a table, data frame, dataset or list of dicts (`text` and `id` name its columns), or
    a path, pattern or address of files, or a list of paths; with the metric `cosine` also a NumPy
    array or a SciPy sparse matrix with a vector in each row, or a column of vectors, which `vector`
    names. With `against`, another source, each pair is of a document of the first, `a`, and one of
    the other, `b`. With `out` the result is also written, and a job that was stopped goes on when
    it is called again.

    Files are text of any ending, .html .htm .pdf .docx .odt .rtf .epub .pptx .ipynb .eml, one
    document each; .jsonl .ndjson .json .csv .tsv .mbox (also .gz and .zst), .parquet .arrow
    .feather .ipc .orc .xlsx .warc and .wet, whose records are documents; .npy, whose rows are
    vectors; and .zip and .tar archives of all these (.tar also .gz .bz2 .xz .zst).
    With `lines` each line of a text file is a document.
    """
    from lookalike.job.find import find
    from lookalike.job.opening import job_on, result_there
    from lookalike.results import FindResult

    if _has_index(options.against):
        raise SettingsError(
            f"{setting('against')} of find is a corpus, and this an index: ask the index itself, "
            "by lookalike index query or Index.query_all"
        )
    with job_on(source, settings_from(options), options) as job:
        progress = job.running.progress
        if result_there(job, options.out, options, job.name("find")):
            there = FindResult.open(options.out or "")
            return _with_page(there, _write_page(there, options, progress))
        result = find(job)
        if options.clusters is not None:
            result.write_clusters(options.clusters)
        if options.out is not None:
            result.write(options.out, format=options.format, progress=progress)
        failure = _write_page(result, options, progress)
        job.finish()
    return _with_page(result, failure)


@takes(DedupOptions)
def dedup(source: Any, options: DedupOptions) -> DedupResult:
    """Drop documents that are similar to one that is kept; the source is as that of `find`.

    `keep` says which of similar documents stays: first, last, longest, shortest, or max:COLUMN or
    min:COLUMN of a table. `against` is a reference corpus, or an index, as `pages.lookalike`: what
    is similar to one of its documents goes, and it is never touched itself. To an `index` what is
    kept is added, so that each day's documents are cleaned against those of all days before.
    Nothing is removed on an estimate. With the `rule`
    contained a document is removed only if a kept one has all its shingles, or the share
    `containment` of them. With `annotate` all documents are written, and what was decided of each
    beside it. With `out` the result is also written to a folder, and a job that was
    stopped goes on when it is called again.
    """
    from lookalike.job.dedup import dedup
    from lookalike.job.opening import job_on, result_there
    from lookalike.results import DedupResult

    if options.containment is not None and options.rule != "contained":
        raise SettingsError(
            f"{setting('containment')} is for {setting('rule', 'contained')}: give both"
        )
    if options.annotate and (options.list_only or options.drop_unread):
        other = "list_only" if options.list_only else "drop_unread"
        raise SettingsError(
            f"{setting('annotate')} writes all documents: leave out {setting(other)}"
        )
    for name in ("list_only", "drop_unread", "annotate"):
        if getattr(options, name) and options.out is None:
            raise SettingsError(
                f"{setting(name)} is of what is written: name a folder by {setting('out')}"
            )
    with ExitStack() as opened:
        consulted = opened.enter_context(_indexes(source, options))
        if consulted is None:
            job = opened.enter_context(job_on(source, settings_from(options), options))
        else:
            settings, seen, options = consulted.settings, consulted.seen, consulted.options
            job = opened.enter_context(job_on(source, settings, options, seen=seen))
        out, listed = options.out, options.list_only
        annotate = {"annotate": True} if options.annotate else {}
        name = job.name("dedup", listed, options.drop_unread, *annotate)
        progress = job.running.progress
        if result_there(job, out, options, name):
            there = DedupResult.open(out or "")
            return _with_page(there, _write_page(there, options, progress))
        result = dedup(job)
        result = replace(result, run=replace(result.run, job=name))

        def add() -> None:
            if consulted is not None:
                consulted.add(job, result.kept_rows)

        if out is None:
            add()
        else:
            stage = job.work.stage("write")
            this = {"folder": os.path.realpath(out), "listed": listed}
            this |= {"drop_unread": options.drop_unread, **annotate}
            going_on = stage.known == this
            stage.known.update(this)
            stage.checkpoint()
            result.write(
                out,
                list_only=listed,
                drop_unread=options.drop_unread,
                annotate=options.annotate,
                progress=progress,
                going_on=going_on,
                before_it_appears=None if consulted is None else add,
            )
        failure = _write_page(result, options, progress)
        job.finish()
    return _with_page(result, failure)


@takes(ReportOptions)
def report(result: Any, options: ReportOptions) -> Page:
    """Write a result as one page that opens from disk, without a network: `out` is its file.

    The result is one of `find`, `dedup` or `contained`, or the folder or file that one was written
    to, whose documents are read again where they were; where they are gone or changed, the page
    says so and goes without texts. It may be a comparison of two documents too, which `names`
    names. Gives the page's path, its size and what it leaves out.
    """
    from lookalike.reports.writing import write_page

    if isinstance(result, (str, os.PathLike)):
        check_path("result", result)
    with asked_for(options.progress) as progress:
        return write_page(result, options, progress)


def _write_page(
    result: FindResult | DedupResult, options: FindOptions | DedupOptions, progress: Progress
) -> LookalikeError | None:
    """Write the page that was asked for with a result, and give why that failed, if it did."""
    if options.report is None:
        return None
    from lookalike.reports.writing import write_page

    asked = {name: getattr(options, name) for name in ("label", "date", "anonymise")}
    page_options = ReportOptions(out=options.report, **asked)
    try:
        page = write_page(result, page_options, progress, written_to=options.out)
    except LookalikeError as error:
        return error
    if options.say is not None:
        for line in page.lines():
            options.say(line)
    return None


def _with_page(result: Found, failure: LookalikeError | None) -> Found:
    """Give a result, or raise why its page could not be written, with the result."""
    if failure is not None:
        failure.result = result
        raise failure
    return result


def _has_index(against: Any) -> bool:
    """Tell whether an index is among what documents are compared with."""
    if against is None:
        return False
    from lookalike.index.opening import indexes_among

    return bool(indexes_among(against)[0])


@contextmanager
def _indexes(source: Any, options: DedupOptions) -> Iterator[Consulted | None]:
    """Open the indexes that documents are looked up in; None where there are none."""
    if options.index is None and options.metadata is not None:
        raise SettingsError(
            f"{setting('metadata')} is kept by an index: name one by {setting('index')}, or leave "
            "it out"
        )
    if options.index is None and not _has_index(options.against):
        yield None
        return
    from lookalike.index.dedup import consulted

    with consulted(source, options) as found:
        yield found


@takes(ContainedOptions)
def contained(source: Any, options: ContainedOptions) -> ContainmentResult:
    """Find the documents of which at least a share of the shingles is in another.

    Each pair has a direction: `part` is inside `whole`. Every such pair is found, without sketches.
    The source is as that of `find`.
    """
    from lookalike.job.contained import contained
    from lookalike.job.opening import job_on, result_there
    from lookalike.results import ContainmentResult

    with job_on(source, settings_from(options, containment=options.containment), options) as job:
        if result_there(job, options.out, options, job.name("contained")):
            return ContainmentResult.open(options.out or "")
        result = contained(job)
        if options.out is not None:
            progress = job.running.progress
            result.write(options.out, format=options.format, progress=progress)
        job.finish()
    return result


@takes(BoilerplateOptions)
def boilerplate(source: Any, options: BoilerplateOptions) -> BoilerplateResult:
    """List the passages that the most documents share; the source is as that of `find`."""
    from lookalike.job.boilerplate import boilerplate
    from lookalike.job.opening import job_on, result_there
    from lookalike.results import BoilerplateResult

    most = options.most
    if isinstance(most, bool) or not isinstance(most, Integral) or most < 1:
        raise SettingsError(f"{setting('most', most)}: use a whole number from 1, as 20")
    most = int(most)
    with job_on(source, settings_from(options), options) as job:
        name = job.name("boilerplate", most)
        if result_there(job, options.out, options, name):
            return BoilerplateResult.open(options.out or "")
        result = boilerplate(job, most)
        result = replace(result, run=replace(result.run, job=name))
        if options.out is not None:
            result.write(options.out, format=options.format)
        job.finish()
    return result


@takes(PlanCorpusOptions)
def plan_corpus(source: Any, options: PlanCorpusOptions) -> Plan:
    """Choose the shingle, bands and rows for a corpus by its sample, as `find` does.

    The plan knows how many pairs of the corpus there are of each similarity: `histogram` counts
    them, and `plot` draws them under the curve. The source is as that of `find`.
    """
    from lookalike.job.opening import job_on

    with job_on(source, settings_from(options), options) as job:
        job.prepare("plan")
        if options.say is not None:
            for line in job.warnings:
                options.say(f"Warning: {line}.")
        job.finish()
        return job.plan


@takes(SketchOptions)
def sketch(source: Any, options: SketchOptions) -> pa.Table:
    """Give the sketches of documents: a row each, in the order of the source.

    The columns are `id` and some of `simhash`, a 64-bit fingerprint, `minhash`, a signature of
    so many `rows`, and `bits` of hyperplanes, 32 to a word: by default the first two, or the last
    for vectors. An empty document has nulls. `write_sketches` writes them as they are made.
    """
    import pyarrow as pa

    with _sketches(source, options) as (_, tables):
        return pa.concat_tables([*tables])


@takes_two(SketchFileOptions)
def write_sketches(
    source: Any, out: str | os.PathLike[str] | IO[bytes], options: SketchFileOptions
) -> Summary:
    """Write the sketches of documents to a file, whole or not at all, or to a binary stream.

    The source is as that of `find`.
    """
    from lookalike.base.timing import timed
    from lookalike.job.sources import names_of
    from lookalike.results.unread import write_unread
    from lookalike.write.files import (
        check_targets,
        format_of,
        is_device,
        write_atomically,
        write_tables,
    )

    if not hasattr(out, "write"):
        check_path("out", out)
    if isinstance(out, (str, os.PathLike)):
        kind = options.format or format_of(out)
        check_targets([out], names_of(source) or [])
        with _sketches(source, options, out) as (job, tables):
            with timed(job.seconds, "write"):
                write_atomically(out, lambda stream: write_tables(tables, stream, kind))
            summary = job.summary()
            if not is_device(out):
                write_unread(Path(out), summary.unread)
            return summary
    with _sketches(source, options) as (job, tables):
        with timed(job.seconds, "write"):
            write_tables(tables, out, options.format or "jsonl")
        return job.summary()


@takes_two(CompareOptions)
def compare(
    a: str | os.PathLike[str] | Sequence[str] | None,
    b: str | os.PathLike[str] | Sequence[str] | None,
    options: CompareOptions,
) -> Comparison:
    """Compare two texts, two lists of tokens, or two files, named by `Path` objects.

    Gives their similarity, the share of each that the other has, and the passages that they share,
    of at least so many words.
    """
    from lookalike.score.comparison import compare as compare_texts

    given = asdict(options)
    told = {name: given.pop(name) for name in ("encoding", "strict_encoding", "main_text")}
    _check_files([os.fspath(one) for one in (a, b) if isinstance(one, os.PathLike)], told)
    (first, *read_first), (second, *read_second) = text_of(a, **told), text_of(b, **told)
    notes = tuple(f"{name}: {note}" for name, note in (*read_first, *read_second) if note)
    return replace(compare_texts(first, second, **given), notes=notes)


@takes(CompareAllOptions)
def compare_all(source: Any, options: CompareAllOptions) -> Comparisons:
    """Compare two documents or more, each with each, by one shingle for all of them.

    The source is a dict of texts or of `Path` objects by their names, or a list of either. Gives
    every pair with its similarity and the share of each that the other has, the most similar first.
    For a corpus there is `find`, which compares only what may be similar.
    """
    from collections.abc import Mapping, Sequence

    from lookalike.score.comparison import compare_all as compare_texts

    if isinstance(source, Mapping):
        named = {str(name): one for name, one in source.items()}
    elif isinstance(source, Sequence) and not isinstance(source, (str, bytes, os.PathLike)):
        named = dict(zip(_unique(source), source, strict=True))
    else:
        raise SourceError(
            f"compare_all was given a {type(source).__name__}: give a list or a dict of texts or "
            "of Path objects"
        )
    if not MIN_COMPARED <= len(named) <= MAX_COMPARED:
        raise SettingsError(
            f"compare was given {count(len(named), 'document')} and compares {MIN_COMPARED} to "
            f"{MAX_COMPARED}, each with each: for more use find"
        )
    given = asdict(options)
    told = {name: given.pop(name) for name in ("encoding", "strict_encoding", "main_text")}
    _check_files([os.fspath(one) for one in named.values() if isinstance(one, os.PathLike)], told)
    read = {name: text_of(one, **told) for name, one in named.items()}
    notes = tuple(f"{name}: {note}" for _, (name, note) in read.values() if note)
    found = compare_texts({name: text for name, (text, _) in read.items()}, **given)
    return replace(found, notes=notes)


def _unique(source: Sequence[Any]) -> list[str]:
    """Name files by their paths, and texts by their places from 1; of a file named twice, both."""
    names: list[str] = []
    for place, one in enumerate(source, start=1):
        name = os.fspath(one) if isinstance(one, os.PathLike) else str(place)
        names.append(name if name not in names else f"{name} ({place})")
    return names


def _check_files(names: list[str], told: Mapping[str, Any]) -> None:
    """Refuse what is told of files, or of pages, where there are none."""
    for name in ("encoding", "strict_encoding"):
        if told[name] and not names:
            raise SettingsError(f"there is no file for {setting(name)}: leave it out")
    if told["main_text"]:
        from lookalike.read.files import kind_of

        if not any((kind_of(name) or ("",))[0] == "html" for name in names):
            raise SettingsError(f"there is no page for {setting('main_text')}: leave it out")


@contextmanager
def _sketches(
    source: Any, options: SketchOptions, out: str | os.PathLike[str] | None = None
) -> Iterator[tuple[Job, Iterator[pa.Table]]]:
    from lookalike.base.timing import timed_items
    from lookalike.job.opening import job_on
    from lookalike.job.sketch_table import sketch_tables
    from lookalike.recipe import ColumnChoice, check_used

    choice = ColumnChoice(options.columns, options.rows, options.bits, options.multiset)
    settings = settings_from(options, metric="cosine", rows=None, multiset=False)
    if choice.columns:
        check_used(choice.columns, choice, settings.weights, settings.seed)
    with job_on(source, settings, options, out=out) as job:
        yield job, timed_items(sketch_tables(job, choice), job.seconds, "sketch")
        job.finish()
