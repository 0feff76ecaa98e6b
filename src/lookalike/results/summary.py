"""What a job read, found and skipped, in numbers and a few lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike.base.timing import Seconds
from lookalike.base.wording import count
from lookalike.results.nearest import NearestDocuments
from lookalike.results.unread import none_unread, opened_unread

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary:
    """What was read, found and skipped."""

    documents: int
    empty: int
    identical: int
    """Documents whose canonical text was read before."""
    candidates: int = 0
    """Pairs that bands brought together, or all pairs where there are no bands."""
    rejected: int = 0
    """Candidates that were found to be below the threshold."""
    dismissed: int = 0
    """Rejected candidates whose sketches alone told so."""
    nearest: NearestDocuments | None = None
    """The most similar documents below the threshold, of those that were compared."""
    score: str | None = None
    """By what documents were compared, as `Jaccard of chars:5 shingles`, and who chose that."""
    references: int = 0
    """Documents of a reference corpus, which are among all."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files skipped, by reason."""
    unread: pa.Table = field(default_factory=none_unread, repr=False)
    """path, reason: each file skipped, then each record that could not be read."""
    bad: tuple[str, ...] = ()
    """The first records and files that could not be read and were skipped, as asked."""
    bad_count: int = 0
    notes: tuple[str, ...] = ()
    """What the reader chose by itself."""
    warnings: tuple[str, ...] = ()
    """What a user should know before trusting the result."""
    seconds: Seconds = field(default_factory=Seconds)
    """Of each stage; pairs that are laid out later add theirs."""

    @property
    def distinct(self) -> int:
        """Documents that differ from each other and are not empty."""
        return self.documents - self.empty - self.identical

    @property
    def compared(self) -> int:
        """Candidates that were compared, as their sketches did not rule them out."""
        return self.candidates - self.dismissed

    def compared_text(self) -> str:
        """Say how many candidates there were, and what became of them."""
        among = f"among {count(self.distinct, 'distinct document')}"
        rejected = f"{self.rejected - self.dismissed:,} rejected"
        if not self.dismissed:
            return f"{count(self.candidates, 'candidate')} {among}, {rejected}"
        return (
            f"{self.compared:,} of {count(self.candidates, 'candidate')} {among}, {rejected}; "
            f"{self.dismissed:,} ruled out by their sketches"
        )

    def counts(self) -> dict[str, Any]:
        """Give the numbers, for the record of a run."""
        return {
            "read": self.documents - self.references,
            "reference": self.references,
            "empty": self.empty,
            "identical": self.identical,
            "candidates": self.candidates,
            "compared": self.compared,
            "rejected": self.rejected,
            "dismissed": self.dismissed,
            "bad": self.bad_count,
            "skipped": dict(self.skipped),
            "unread": len(self.unread),
        }

    def lines(self) -> dict[str, Any]:
        """Give what was said, for the record of a run."""
        return {
            "score": self.score,
            "nearest": None if self.nearest is None else self.nearest.as_dict(),
            "bad": list(self.bad),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "seconds": self.seconds.recorded(),
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any], place: Path) -> Summary:
        """Read the summary in the record of a run, and what was not read beside its result."""
        counts = record["counts"]
        return cls(
            documents=counts["read"] + counts["reference"],
            # Of dedup, those of the corpus and of the reference are counted apart.
            empty=counts["empty"] + counts.get("reference_empty", 0),
            identical=counts["identical"],
            candidates=counts["candidates"],
            rejected=counts["rejected"],
            dismissed=counts["dismissed"],
            references=counts["reference"],
            score=record.get("score"),
            nearest=NearestDocuments.of(record.get("nearest")),
            skipped=counts["skipped"],
            unread=opened_unread(place, counts),
            bad=tuple(record["bad"]),
            bad_count=counts["bad"],
            notes=tuple(record["notes"]),
            warnings=tuple(record["warnings"]),
            seconds=Seconds.of_record(record["seconds"]),
        )
