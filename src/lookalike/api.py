"""The one door: what users call from Python, and all that every face calls.

Heavy parts load when they are used: to compare two texts takes none of those of a job.
"""

from __future__ import annotations

import functools
import inspect
import os
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from lookalike.settings import (
    BoilerplateOptions,
    CompareOptions,
    ContainedOptions,
    DedupOptions,
    FindOptions,
    SketchFileOptions,
    SketchOptions,
    option_of,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from lookalike.job.job import Job
    from lookalike.results import (
        BoilerplateResult,
        ContainmentResult,
        DedupResult,
        FindResult,
        Summary,
    )
    from lookalike.score.comparison import Comparison
    from lookalike.settings import Settings

__all__ = [
    "boilerplate",
    "compare",
    "contained",
    "dedup",
    "find",
    "paths",
    "sketch",
    "work_beside",
    "write_sketches",
]

P = ParamSpec("P")
Options = TypeVar("Options")
Found = TypeVar("Found")


def _takes(
    options: Callable[P, Options],
) -> Callable[[Callable[[Any, Options], Found]], Callable[Concatenate[Any, P], Found]]:
    """Make the fields of a class of options the keywords of a function of a source."""
    return functools.partial(_with_keywords, options)


def _takes_two(
    options: Callable[P, Options],
) -> Callable[[Callable[[Any, Any, Options], Found]], Callable[Concatenate[Any, Any, P], Found]]:
    """Make them those of a function of two documents."""
    return functools.partial(_with_keywords, options)


def _with_keywords(options: Any, function: Any) -> Any:
    """Let a function be called with the fields of a class of options as its keywords.

    Its signature shows them, so that editors and `help` do.
    """
    *first, _ = inspect.signature(function).parameters.values()
    keywords = list(inspect.signature(options).parameters.values())
    returned = inspect.signature(function).return_annotation
    signature = inspect.Signature([*first, *keywords], return_annotation=returned)

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        before = [bound.pop(one.name) for one in first]
        return function(*before, options(**bound))

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = f"{function.__doc__}\n{described(options)}"
    return call


def described(options: Any) -> str:
    """Describe the options of a function, one a line."""
    lines = [f"        {one.name}: {option_of(one).help}" for one in fields(options)]
    return "\n".join(["    Options:", *lines, "    "])


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
    return [_Path(os.fspath(name)) for name in names]


@_takes(FindOptions)
def find(source: Any, options: FindOptions) -> FindResult:
    """Find the pairs of documents whose similarity reaches the threshold.

    The source is a list or dict of texts or of lists of tokens, an Arrow, pandas or polars column
    of either, a table (`text` and `id` name its columns), or a path, pattern or address of files,
    or a list of paths; with the metric `cosine` also a NumPy array or a SciPy sparse matrix with a
    vector in each row, or a column of vectors, which `vector` names. With `out` the result is also
    written, and a job that was stopped goes on when it is called again.
    """
    with _job(source, _settings(options), options) as job:
        result = job.find()
        if options.clusters is not None:
            result.write_clusters(options.clusters)
        if options.out is not None:
            progress = job.running.progress
            result.write(options.out, format=options.format, progress=progress)
        job.finish()
    return result


@_takes(DedupOptions)
def dedup(source: Any, options: DedupOptions) -> DedupResult:
    """Drop documents that are similar to one that is kept; the source is as that of `find`.

    `keep` says which of similar documents stays: first, last, longest, shortest, or max:COLUMN or
    min:COLUMN of a table. `against` is a reference corpus: what is similar to one of its documents
    goes, and it is never touched itself. Nothing is removed on an estimate. With `out` the result
    is also written to a folder, and a job that was stopped goes on when it is called again.
    """
    from lookalike.results import DedupResult

    with _job(source, _settings(options), options) as job:
        out, listed = options.out, options.list_only
        if out is not None and _holds_result(Path(out), job.name(listed)):
            job.running.say(f"{os.fspath(out)} holds the result of this very job already.")
            job.finish()
            return DedupResult.open(out)
        result = job.dedup()
        result = replace(result, run=replace(result.run, job=job.name(listed)))
        if out is not None:
            stage = job.work.stage("write")
            this = {"folder": os.path.realpath(out), "listed": listed}
            going_on = stage.known == this
            stage.known.update(this)
            stage.checkpoint()
            progress = job.running.progress
            result.write(out, list_only=listed, progress=progress, going_on=going_on)
        job.finish()
    return result


@_takes(ContainedOptions)
def contained(source: Any, options: ContainedOptions) -> ContainmentResult:
    """Find the documents of which at least a share of the shingles is in another.

    Each pair has a direction: `a` is inside `b`. Every such pair is found, without sketches. The
    source is as that of `find`.
    """
    with _job(source, _settings(options, containment=options.containment), options) as job:
        result = job.contain()
        if options.out is not None:
            progress = job.running.progress
            result.write(options.out, format=options.format, progress=progress)
        job.finish()
    return result


@_takes(BoilerplateOptions)
def boilerplate(source: Any, options: BoilerplateOptions) -> BoilerplateResult:
    """List the passages that the most documents share; the source is as that of `find`."""
    with _job(source, _settings(options), options) as job:
        result = job.boilerplate(options.most)
        if options.out is not None:
            result.write(options.out, format=options.format)
        job.finish()
    return result


@_takes(SketchOptions)
def sketch(source: Any, options: SketchOptions) -> pa.Table:
    """Give the sketches of documents: a row each, in the order of the source.

    The columns are `id` and some of `simhash`, a 64-bit fingerprint, `minhash`, a signature of
    so many `rows`, and `bits` of hyperplanes, 32 to a word: by default the first two, or the last
    for vectors. An empty document has nulls. `write_sketches` writes them as they are made.
    """
    import pyarrow as pa

    with _sketches(source, options) as (_, tables):
        return pa.concat_tables([*tables])


@_takes_two(SketchFileOptions)
def write_sketches(
    source: Any, out: str | os.PathLike[str] | IO[bytes], options: SketchFileOptions
) -> Summary:
    """Write the sketches of documents to a file, whole or not at all, or to a binary stream.

    The source is as that of `find`.
    """
    from lookalike.write.files import check_targets, format_of, write_atomically, write_tables

    to_file = isinstance(out, (str, os.PathLike))
    kind = options.format or (format_of(out) if isinstance(out, (str, os.PathLike)) else "jsonl")
    with _sketches(source, options) as (job, tables):
        if to_file:
            check_targets([out], _names(source) or [])  # type: ignore[list-item]
            write_atomically(out, lambda stream: write_tables(tables, stream, kind))  # type: ignore[arg-type]
        else:
            write_tables(tables, out, kind)  # type: ignore[arg-type]
        return job.summary()


@_takes_two(CompareOptions)
def compare(
    a: str | os.PathLike[str] | None, b: str | os.PathLike[str] | None, options: CompareOptions
) -> Comparison:
    """Compare two texts, or two files where they are named by `Path` objects.

    Gives their similarity, the share of each that the other has, and the passages that they share,
    of at least so many words.
    """
    from lookalike.score.comparison import compare as compare_texts

    return compare_texts(_text_of(a), _text_of(b), **asdict(options))


def _settings(options: Any, **others: Any) -> Settings:
    """Give the settings among options; a text to ignore may be in a file."""
    ignore = getattr(options, "ignore", None)
    if ignore is not None:
        others["ignore"] = _text_of(ignore)
    return settings_of(options, **others)


def _text_of(text: Any) -> Any:
    """Give the text of a file; what is no name of one as it is."""
    if not isinstance(text, os.PathLike):
        return text
    from lookalike.read import read_text

    return read_text(os.fspath(text))


def work_beside(out: str | os.PathLike[str] | None) -> Path | None:
    """Give the work folder of a job that writes to a place: hidden, beside it.

    Beside a pipe or a device there is none.
    """
    if out is None:
        return None
    from lookalike.write.files import beside, is_device

    return None if is_device(out) else beside(Path(out).absolute(), "work")


@contextmanager
def _sketches(source: Any, options: SketchOptions) -> Iterator[tuple[Job, Iterator[pa.Table]]]:
    from lookalike.job.sketch_table import sketch_tables
    from lookalike.recipe import ColumnChoice

    choice = ColumnChoice(options.columns, options.rows, options.bits, options.multiset)
    settings = _settings(options, metric="cosine", rows=None, multiset=False)
    with _job(source, settings, options) as job:
        yield job, sketch_tables(job, choice)
        job.finish()


@contextmanager
def _job(source: Any, settings: Settings, options: Any) -> Iterator[Job]:
    """Make the job of a function, and clear up after it."""
    from lookalike.job.opening import open_job
    from lookalike.job.running import Running

    asked = getattr(options, "work", None)
    out = getattr(options, "out", None)
    names, against = _names(source), getattr(options, "against", None)
    _check_places(names, _names(against), options)
    running = Running.of(
        threads=options.threads,
        memory=options.memory,
        work=asked if asked is not None or names is None else work_beside(out),
        keep_work=asked is not None,
        skip_bad=options.skip_bad,
        progress=options.progress,
        say=options.say,
    )
    fields_read = {name: getattr(options, name, None) for name in ("text", "vector", "id")}
    keep = getattr(options, "keep", "first")
    job = open_job(*(source, names, against, _names(against)), settings, running, fields_read, keep)
    with job.closed_if_it_fails():
        yield job
        if asked is None:
            job.work.unlink()


def _names(source: Any) -> list[str] | None:
    """Give the names of the files that a source stands for; None of what is in memory."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    if listed and all(isinstance(one, os.PathLike) for one in source):
        return [os.fspath(one) for one in source]
    return None


def _check_places(names: Iterable[str] | None, against: Iterable[str] | None, options: Any) -> None:
    """Refuse, before anything is read, places to write that cannot be."""
    from lookalike.base.errors import SettingsError
    from lookalike.results.result import is_folder
    from lookalike.write.files import check_apart, check_new, check_targets, format_of

    read = [*(names or ()), *(against or ())]
    given = {name: getattr(options, name, None) for name in ("out", "format", "work", "clusters")}
    out, work = given["out"], given["work"]
    files = [given["clusters"]] if given["clusters"] is not None else []
    if out is not None:
        if given["format"] == "table":
            raise SettingsError("a table is for the screen: to write, use jsonl, csv or parquet")
        if isinstance(options, DedupOptions) or is_folder(out, given["format"]):
            check_apart(out, [*read, *([work] if work is not None else [])])
            if not isinstance(options, DedupOptions):
                check_new(out)
        else:
            files.insert(0, out)
    for path in files:
        if path is not out or given["format"] is None:
            format_of(path)
    check_targets(files, read)
    if work is not None:
        check_apart(work, read)


def _holds_result(folder: Path, job: str) -> bool:
    """Refuse a folder that holds something else; tell whether it holds this job's result."""
    from lookalike.base.errors import LookalikeError
    from lookalike.results.record import read_record
    from lookalike.write.files import check_new

    try:
        same = folder.is_dir() and read_record(folder).get("job") == job
    except LookalikeError:
        same = False
    if not same:
        check_new(folder)
    return same
