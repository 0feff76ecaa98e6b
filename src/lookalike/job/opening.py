"""A job on sources of any kind, begun where it may be and cleared up after."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.columns import unwritable
from lookalike.base.errors import LookalikeError, SettingsError
from lookalike.base.progress import asked_for
from lookalike.base.wording import Message, setting
from lookalike.cluster.keep import column_of
from lookalike.job.job import Job
from lookalike.job.running import LOG, Running
from lookalike.job.unused_options import check_used
from lookalike.job.work_folder import SPOOL, SPOOL_BEFORE, claim
from lookalike.read import Corpus, open_corpus, read
from lookalike.read.batches import as_names
from lookalike.read.chosen_files import ChosenFiles
from lookalike.read.encoding_names import Encodings
from lookalike.read.source import InMemory
from lookalike.read.tables import hold
from lookalike.results.record import read_record
from lookalike.results.result import is_folder
from lookalike.write.files import check_apart, check_new, check_targets, format_of, work_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lookalike.job.running import Progress
    from lookalike.job.work_folder import Claim
    from lookalike.read.batches import Names
    from lookalike.settings import Settings

__all__ = ["job_on", "names_of", "result_there"]

LAYOUT = ("lines", "delimiter", "no_header")
"""Options that say how files are laid out."""


@contextmanager
def job_on(
    source: Any,
    settings: Settings,
    options: Any,
    *,
    out: str | os.PathLike[str] | None = None,
) -> Iterator[Job]:
    """Make the job of a function with its options, and clear up after it.

    Without a work folder asked for, the work of a job on files that writes a result is beside it:
    beside `out`, or what the options name.
    """
    with (
        asked_for(options.progress) as progress,
        _job(source, settings, options, progress, out) as job,
    ):
        yield job
        for line in job.warnings:
            LOG.warning("%s", Message(line))


@contextmanager
def _job(
    source: Any,
    settings: Settings,
    options: Any,
    progress: Progress | None,
    out: str | os.PathLike[str] | None,
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
    read_fields = {name: getattr(options, name, None) for name in ("text", "vector", "id")}
    layout = {name: getattr(options, name) for name in LAYOUT}
    # Named only where they are asked for: a job without them is the one that it always was.
    pages = {name: getattr(options, name, None) for name in ("markup", "main_text")}
    read_fields |= {name: value for name, value in pages.items() if value}
    chosen = ChosenFiles(_patterns(options.include), _patterns(options.exclude), options.all_files)
    read_fields["text"] = _plain_names(read_fields["text"])
    told = Encodings.of(options.encoding, strict=options.strict_encoding)
    encodings = {"encoding": told.encoding, "strict_encoding": told.strict}
    keep = getattr(options, "keep", "first")
    column, groups = column_of(keep), settings.groups
    with _standard_input([*(names or ()), *(reference or ())], running) as (spool, claimed):
        sources: list[Corpus | InMemory] = []
        listed = {"spool": spool, "chosen": chosen, **encodings, **layout}
        if against is not None and reference != []:
            sources.append(_opened(against, reference, read_fields, None, groups, running, listed))
        sources.append(_opened(source, names, read_fields, column, groups, running, listed))
        check_used(sources, options)
        # Of `dedup` a reference takes documents away, of `find` it is the other half of a pair.
        across = against is not None and not hasattr(options, "keep")
        told_of_files = read_fields | encodings | layout
        job = Job(sources, settings, running, told_of_files, keep, across, claimed)
    with job.closed_if_it_fails():
        yield job
        if asked is None:
            job.work.unlink()


def _plain_names(text: Names) -> Names:
    """Give the fields of the text as a work folder holds them: one alone as it is."""
    names = as_names(text)
    return list(names) if len(names) > 1 else next(iter(names), None)


def names_of(source: Any) -> list[str] | None:
    """Give the names of the files that a source stands for; None of what is in memory."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    listed = isinstance(source, (list, tuple)) and len(source) > 0
    if listed and all(isinstance(one, os.PathLike) for one in source):
        return [os.fspath(one) for one in source]
    return None


def _check_places(read: list[str], options: Any) -> None:
    """Refuse, before anything is read, places to write that cannot be."""
    out, kind, work, clusters = (
        getattr(options, name, None) for name in ("out", "format", "work", "clusters")
    )
    files = []
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


def _is_folder(out: str | os.PathLike[str], options: Any) -> bool:
    """Tell whether a result goes to a folder, as those of `dedup` always do."""
    return not hasattr(options, "format") or is_folder(out, options.format)


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


def _opened(
    source: Any,
    names: Sequence[str] | None,
    fields: Mapping[str, Any],
    column: str | None,
    groups: str | None,
    running: Running,
    listed: Mapping[str, Any],
) -> Corpus | InMemory:
    if names is None:
        held = hold(source)
        return InMemory(read(held, **fields), column, groups=groups, source=held)
    return open_corpus(
        names,
        **fields,
        columns=tuple({name: None for name in (column, groups) if name is not None}),
        skip_bad=running.skip_bad,
        memory=running.memory,
        **listed,
    )


def _patterns(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Take one pattern, or several."""
    return (given,) if isinstance(given, str) else tuple(given or ())


@contextmanager
def _standard_input(
    names: Sequence[str], running: Running
) -> Iterator[tuple[Path | None, Claim | None]]:
    """Give a place for a copy of standard input, where that is read and there is a work folder.

    The folder is claimed before anything in it is replaced, and where it then turns out to be that
    of another job, the copy that was there before comes back.
    """
    if running.work is None or "-" not in names:
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
