"""What of a source was not read, counted as a whole and named in part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lookalike.base.wording import Message, counted_reasons, skipped_by_kind
from lookalike.read.files import FileNote, counts_of, file_note_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lookalike.read import Batch
    from lookalike.read.files import Unread

__all__ = ["NotRead"]

MOST_NAMED = 1000
"""Files, and records, that are named; all are counted."""
SHOWN = 3
"""Files that are named in a line, and bad records that have one each."""


@dataclass
class NotRead:
    """Files that were skipped, and files and records that could not be read, and why."""

    skipped: dict[str, int] = field(default_factory=dict)
    """How many files, and records of WARC files, were skipped for each reason."""
    files: list[tuple[str, str]] = field(default_factory=list)
    """The first 1,000 of the files, and why."""
    bad_count: int = 0
    """Files and records that could not be read and were skipped, as asked."""
    bad: list[str] = field(default_factory=list)
    """The first 1,000 of them: where, and what is wrong."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """The first 1,000 files of which a user should know how they were read."""

    def __bool__(self) -> bool:
        """Tell whether there is anything."""
        return bool(self.skipped or self.bad_count)

    def skip(self, unread: Iterable[Unread]) -> None:
        """Count files that were skipped."""
        listed = list(unread)
        self.skipped = dict(Counter(self.skipped) + Counter(counts_of(listed)))
        self.files += [(one.path, one.reason) for one in listed[: MOST_NAMED - len(self.files)]]

    def fail(self, broken: Iterable[Unread]) -> None:
        """Count what could not be read."""
        listed = list(broken)
        self.bad_count += len(listed)
        self.bad += [one.reason for one in listed[: MOST_NAMED - len(self.bad)]]

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
        self.bad += other.bad[: MOST_NAMED - len(self.bad)]
        self.notes += other.notes[: MOST_NAMED - len(self.notes)]

    def lines(self) -> list[str]:
        """Say how files were read, how many were skipped, and why."""
        lines = [*file_note_lines([FileNote(*one) for one in self.notes])]
        for kind, reasons in skipped_by_kind(self.skipped).items():
            line = f"Skipped {counted_reasons(kind, reasons)}"
            if kind == "file":
                named = [path for path, reason in self.files if reason in reasons][:SHOWN]
                more = ", …" if sum(reasons.values()) > SHOWN else ""
                line += f" ({', '.join(named)}{more})"
            lines.append(f"{line}.")
        lines += [f"Skipped, as asked: {line}" for line in self.bad[:SHOWN]]
        if self.bad_count > SHOWN:
            lines.append(f"Skipped, as asked: {self.bad_count - SHOWN:,} more that cannot be read")
        return lines

    def spelled(self) -> NotRead:
        """Give it with messages that are spelled as in Python, and remember how else."""
        bad = [Message(line) for line in self.bad]
        return NotRead(self.skipped, self.files, self.bad_count, [*bad], self.notes)
