"""What of a source was not read, counted as a whole and named in part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lookalike.base.wording import Message, in_python
from lookalike.job.skipped import skipped_line
from lookalike.read.files import FileNote, Unread, counts_of, file_note_lines
from lookalike.results.unread import table_of, write_unread

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lookalike.read import Batch

__all__ = ["NotRead"]

MOST_NAMED = 1000
"""Files, and records, that are named; all are counted."""
SHOWN = 3
"""Bad records that have a line each."""
WHERE = f"the facts name up to {MOST_NAMED:,}"


@dataclass
class NotRead:
    """Files that were skipped, and files and records that could not be read, and why."""

    skipped: dict[str, int] = field(default_factory=dict)
    """How many files, and records of WARC files, were skipped for each reason."""
    files: list[tuple[str, str, str]] = field(default_factory=list)
    """The first 1,000 of the files: the path, why, and what else is to say of it."""
    bad_count: int = 0
    """Files and records that could not be read and were skipped, as asked."""
    bad: list[str] = field(default_factory=list)
    """The first 1,000 of them: where, and what is wrong."""
    bad_paths: list[str] = field(default_factory=list)
    """The files or records that these are."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """The first 1,000 files of which a user should know how they were read."""

    def __bool__(self) -> bool:
        """Tell whether there is anything."""
        return bool(self.skipped or self.bad_count)

    def skip(self, unread: Iterable[Unread]) -> None:
        """Count files that were skipped."""
        listed = list(unread)
        self.skipped = dict(Counter(self.skipped) + Counter(counts_of(listed)))
        room = MOST_NAMED - len(self.files)
        self.files += [(one.path, one.reason, one.detail) for one in listed[:room]]

    def fail(self, broken: Iterable[Unread]) -> None:
        """Count what could not be read."""
        listed = list(broken)
        self.bad_count += len(listed)
        named = listed[: MOST_NAMED - len(self.bad)]
        self.bad += [one.reason for one in named]
        self.bad_paths += [one.path for one in named]

    def take(self, batch: Batch) -> None:
        """Count what was not read on the way to a batch."""
        self.skip(batch.unread)
        self.fail(batch.broken)
        room = MOST_NAMED - len(self.notes)
        self.notes += [(one.path, one.note) for one in batch.file_notes[:room]]

    def add(self, other: NotRead) -> None:
        """Count what was not read elsewhere too."""
        self.skipped = dict(Counter(self.skipped) + Counter(other.skipped))
        self.files += other.files[: MOST_NAMED - len(self.files)]
        self.bad_count += other.bad_count
        room = MOST_NAMED - len(self.bad)
        self.bad += other.bad[:room]
        self.bad_paths += other.bad_paths[:room]
        self.notes += other.notes[: MOST_NAMED - len(self.notes)]

    def unread(self) -> list[Unread]:
        """Give the files that are named."""
        return [Unread(path, reason, detail=detail) for path, reason, detail in self.files]

    def write(self, out: Path) -> None:
        """Name it in a file beside a result; where all was read, in none."""
        broken = map(Unread, self.bad_paths, map(in_python, self.bad))
        write_unread(out, table_of([*self.unread(), *broken]))

    def lines(self) -> list[str]:
        """Say how files were read, how many were skipped, and why."""
        lines = [*file_note_lines([FileNote(*one) for one in self.notes])]
        if self.skipped:
            lines.append(skipped_line(self.skipped, self.unread(), WHERE))
        lines += [f"Skipped, as asked: {line}" for line in self.bad[:SHOWN]]
        if self.bad_count > SHOWN:
            lines.append(f"Skipped, as asked: {self.bad_count - SHOWN:,} more that cannot be read")
        return lines

    def spelled(self) -> NotRead:
        """Give it with messages that are spelled as in Python, and remember how else."""
        return replace(self, bad=[Message(line) for line in self.bad])
