"""A job on sources of any kind, begun where it may be and cleared up after."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import LookalikeError, SettingsError
from lookalike.base.progress import asked_for
from lookalike.base.timing import call_began
from lookalike.base.wording import Message, setting
from lookalike.cluster.keep import column_of
from lookalike.job.job import Job
from lookalike.job.running import LOG, Running
from lookalike.job.sources import Reading, names_of, standard_input
from lookalike.results.record import read_record
from lookalike.results.result import is_folder
from lookalike.results.unread import place_of_unread
from lookalike.write.files import (
    check_apart,
    check_new,
    check_targets,
    format_of,
    is_device,
    work_beside,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lookalike.job.running import Progress
    from lookalike.job.seen import Seen
    from lookalike.read import Corpus
    from lookalike.read.source import InMemory
    from lookalike.settings import Settings

__all__ = ["job_on", "result_there"]


@contextmanager
def job_on(
    source: Any,
    settings: Settings,
    options: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    seen: Seen | None = None,
) -> Iterator[Job]:
    """Make the job of a function with its options, and clear up after it.

    Without a work folder asked for, the work of a job on files that writes a result is beside it:
    beside `out`, or what the options name. `seen` is what indexes say of the documents.
    """
    called = call_began()
    with (
        asked_for(options.progress) as progress,
        _job(source, settings, options, progress, out, seen) as job,
    ):
        job.seconds.called = called
        yield job
        job.seconds.end()
        for line in job.warnings:
            LOG.warning("%s", Message(line))


@contextmanager
def _job(
    source: Any,
    settings: Settings,
    options: Any,
    progress: Progress | None,
    out: str | os.PathLike[str] | None,
    seen: Seen | None,
) -> Iterator[Job]:
    asked, against = getattr(options, "work", None), getattr(options, "against", None)
    names, reference = names_of(source), names_of(against)
    _check_places([*(names or ()), *(reference or ())], options)
    out = getattr(options, "out", None) if out is None else out
    in_memory = names is None or (against is not None and reference is None)
    beside = None if in_memory else work_beside(out)
    running = Running.of(
        threads=options.threads,
        memory=options.memory,
        work=beside if asked is None else asked,
        keep_work=asked is not None,
        skip_bad=options.skip_bad,
        progress=progress,
        say=options.say,
    )
    reading = Reading.of(options)
    keep = getattr(options, "keep", "first")
    grouped = {} if settings.groups is None else {settings.groups: "group"}
    column = column_of(keep)
    with standard_input([*(names or ()), *(reference or ())], running) as (spool, claimed):
        sources: list[Corpus | InMemory] = []
        if against is not None and reference != []:
            sources.append(reading.open(against, running, grouped, spool))
        columns = grouped if column is None else {column: "keep", **grouped}
        if seen is not None and seen.described is not None:
            columns = dict.fromkeys(seen.described.names, "describe documents") | columns
        sources.append(reading.open(source, running, columns, spool))
        reading.check(sources)
        # Of `dedup` a reference takes documents away, of `find` it is the other half of a pair.
        across = against is not None and not hasattr(options, "keep")
        asked_reading = reading.recorded() | {"skip_bad": running.skip_bad}
        told = reading.told()
        skipped_in = _skipped_in(out, options)
        job = Job(
            sources,
            settings,
            running,
            told,
            keep,
            across,
            claimed,
            asked_reading,
            skipped_in,
            seen,
        )
    with job.closed_if_it_fails():
        yield job
        if asked is None:
            job.work.unlink()


def _check_places(read: list[str], options: Any) -> None:
    """Refuse, before anything is read, places to write that cannot be."""
    out, kind, work, clusters = (
        getattr(options, name, None) for name in ("out", "format", "work", "clusters")
    )
    files = _pages_of(options)
    if hasattr(options, "out") and out is None and kind is not None:
        raise SettingsError(f"{setting('format')} is of a file: name one by {setting('out')}")
    if out is not None:
        if kind == "table":
            raise SettingsError("a table is for the screen: to write, use jsonl, csv or parquet")
        if _is_folder(out, options):
            check_apart(out, [*read, *([work] if work is not None else [])])
        else:
            if kind is None:
                format_of(out)
            files.append(out)
    if clusters is not None:
        format_of(clusters)
        files.append(clusters)
    check_targets(files, read)
    if work is not None:
        check_apart(work, read)


def _pages_of(options: Any) -> list[str | os.PathLike[str]]:
    """Give the page that a job is to write, if any; what is asked of it needs one."""
    page = getattr(options, "report", None)
    for name in ("label", "date", "anonymise"):
        if page is None and getattr(options, name, None):
            raise SettingsError(f"{setting(name)} is of a page: name one by {setting('report')}")
    return [] if page is None else [page]


def _is_folder(out: str | os.PathLike[str], options: Any) -> bool:
    """Tell whether a result goes to a folder, as those of `dedup` always do."""
    return not hasattr(options, "format") or is_folder(out, options.format)


def _skipped_in(out: str | os.PathLike[str] | None, options: Any) -> Path | None:
    """Give the file that will name what was skipped; None where none will."""
    if out is None or is_device(out):
        return None
    return place_of_unread(Path(out), is_folder=_is_folder(out, options))


def result_there(job: Job, out: str | os.PathLike[str] | None, options: Any, name: str) -> bool:
    """Tell whether a folder already holds the result of this job, and say so.

    A folder that holds something else is refused.
    """
    if out is None or not _is_folder(out, options):
        return False
    try:
        same = Path(out).is_dir() and read_record(Path(out)).get("job") == name
    except LookalikeError:
        same = False
    if not same:
        check_new(out)
        return False
    job.running.say(f"{os.fspath(out)} already holds the result of this job.")
    job.finish()
    return True
