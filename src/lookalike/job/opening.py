"""A job on sources of any kind: files, which are opened, or documents in memory."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lookalike.base.columns import unwritable
from lookalike.cluster.keep import column_of
from lookalike.job.job import Job
from lookalike.job.work_folder import SPOOL, SPOOL_BEFORE, claim
from lookalike.read import open_corpus, read
from lookalike.read.source import InMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lookalike.job.running import Running
    from lookalike.job.work_folder import Claim
    from lookalike.read import Corpus
    from lookalike.settings import Settings

__all__ = ["open_job"]


def open_job(
    source: Any,
    names: Sequence[str] | None,
    against: Any,
    against_names: Sequence[str] | None,
    settings: Settings,
    running: Running,
    fields: Mapping[str, str | None],
    keep: str = "first",
) -> Job:
    """Make the job on a source, and on a reference corpus where there is one.

    `names` are those of the files that a source stands for; of what is in memory there are none.
    """
    column = column_of(keep)
    with _standard_input([*(names or ()), *(against_names or ())], running) as (spool, claimed):
        sources: list[Corpus | InMemory] = []
        if against is not None and against_names != []:
            sources.append(_opened(against, against_names, fields, None, running, spool))
        sources.append(_opened(source, names, fields, column, running, spool))
        return Job(sources, settings, running, dict(fields), keep, claimed)


def _opened(
    source: Any,
    names: Sequence[str] | None,
    fields: Mapping[str, str | None],
    column: str | None,
    running: Running,
    spool: Path | None,
) -> Corpus | InMemory:
    if names is None:
        return InMemory(read(source, **fields), column, source=source)
    return open_corpus(
        names,
        **fields,
        columns=(column,) if column else (),
        skip_bad=running.skip_bad,
        memory=running.memory,
        spool=spool,
    )


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
