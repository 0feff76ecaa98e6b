"""How a job runs, and nothing that decides its result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lookalike.base.errors import SettingsError
from lookalike.base.memory import default_memory, parse_size
from lookalike.base.threads import available
from lookalike.base.wording import Message, setting

__all__ = ["LOG", "PIECE_BYTES", "Progress", "Running", "silent"]

LOG = logging.getLogger("lookalike")
"""Hears what is said, and what a user should know before trusting a result."""
LOG.addHandler(logging.NullHandler())  # else Python prints warnings where nobody asked for them

PIECE_BYTES = 1 << 22
"""Bytes of documents that a thread takes at a time: of fewer, handing out takes a share."""

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and how much there is; in bytes where it reads."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


def _log(line: str) -> None:
    """Say a line to the log alone."""
    LOG.info("%s", Message(line))


def _log_and(say: Callable[[str], None]) -> Callable[[str], None]:
    """Say a line to the log too."""

    def told(line: str) -> None:
        _log(line)
        say(Message(line))

    return told


@dataclass(frozen=True)
class Running:
    """Threads, memory, the work folder, and who is told of the progress."""

    threads: int
    memory: int
    work: Path | None = None
    """The folder that holds what was done so far; without one the job cannot be taken up again."""
    keep_work: bool = False
    """The work folder outlives the job, for other thresholds."""
    skip_bad: bool = False
    """Skip records that cannot be read, count and name them, instead of stopping."""
    progress: Progress = silent
    say: Callable[[str], None] = _log
    """Told in a line what a user should know while the job runs."""

    @classmethod
    def of(
        cls,
        *,
        threads: int | None = None,
        memory: str | float | None = None,
        work: str | Path | None = None,
        keep_work: bool = True,
        skip_bad: bool = False,
        progress: Progress | None = None,
        say: Callable[[str], None] | None = None,
    ) -> Running:
        """Fill in what was not given."""
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise SettingsError(f"{setting('threads', threads)}: use a whole number from 1")
        return cls(
            threads or available(),
            default_memory() if memory is None else parse_size(memory),
            None if work is None else Path(work),
            keep_work and work is not None,
            skip_bad,
            progress or silent,
            _log if say is None else _log_and(say),
        )
