"""What ran, what was found, what was skipped: the first screen of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike import __version__
from lookalike.base.wording import count, in_full, in_words, similarity_text
from lookalike.reports import model
from lookalike.results import ContainmentResult, DedupResult, FindResult

if TYPE_CHECKING:
    from lookalike.reports.found import FoundPairs
    from lookalike.reports.names import Names
    from lookalike.results import Result

__all__ = ["skipped_of", "summary_of", "title_of"]

MAX_SKIPPED = 1_000


def title_of(result: Result, found: FoundPairs) -> str:
    """Say in a line what was found."""
    documents = count(result.summary.documents - result.summary.references, "document")
    if isinstance(result, DedupResult):
        return f"{found.count:,} of {documents} removed"
    if isinstance(result, ContainmentResult):
        return f"{count(found.count, 'case')} of containment in {documents}"
    return f"{count(found.count, 'similar pair')} in {documents}"


def summary_of(
    result: Result,
    found: FoundPairs,
    names: Names,
    *,
    label: str | None,
    date: str | None,
    left_out: list[str],
) -> model.Summary:
    """Give what ran and what came of it."""
    record = result.record()
    settings = result.settings
    contained = isinstance(result, ContainmentResult) or settings.rule == "contained"
    # A line on how a file was read names it.
    notes = [] if names.anonymous else [in_words(line) for line in record["notes"]]
    doubts = result.doubts if isinstance(result, FindResult) and _has_clusters(result) else ()
    return model.Summary(
        command=result.command,
        title=title_of(result, found),
        version=str(record.get("lookalike", __version__)),
        threshold=_threshold(result, contained=contained),
        score=str(record.get("score") or ""),
        measure="containment" if contained else "similarity",
        exact=not settings.by_sketches,
        facts=_facts(result, found),
        settings=record["settings"],
        counts=record["counts"],
        seconds=record["seconds"],
        versions=record["versions"],
        warnings=[in_words(line) for line in (*record["warnings"], *doubts)],
        notes=notes,
        left_out=left_out,
        files=[],
        anonymous=names.anonymous,
        label=label,
        date=date,
    )


def _threshold(result: Result, *, contained: bool) -> float | None:
    if contained:
        return result.settings.containment
    # Fingerprints are near by their bits.
    return None if result.settings.simhash is not None else result.settings.threshold


def _has_clusters(result: FindResult) -> bool:
    return result.grouped is not None or result.clusters_file is not None


def _facts(result: Result, found: FoundPairs) -> list[tuple[str, str]]:
    """Say in a few words each what was read and found."""
    summary = result.summary
    compared = summary.compared
    nearest = summary.nearest
    facts = {
        "Read": count(summary.documents - summary.references, "document"),
        "Against": count(summary.references, "document") if summary.references else None,
        "Not read": count(len(summary.unread), "file or record", "files and records")
        if len(summary.unread)
        else None,
        "Empty": f"{summary.empty:,}" if summary.empty else None,
        "Identical copies": f"{summary.identical:,}" if summary.identical else None,
        "Compared": count(compared, "distinct pair") if compared else None,
        "Found": _found(result, found),
        f"Closest below {in_full(result.settings.threshold)}": None
        if nearest is None or result.settings.simhash is not None
        else similarity_text(nearest.similarity, result.settings.threshold),
        "Seconds": f"{result.record()['seconds'].get('total', 0):.1f}",
    }
    return [(name, value) for name, value in facts.items() if value is not None]


def _found(result: Result, found: FoundPairs) -> str:
    return (
        f"{found.count:,} removed"
        if isinstance(result, DedupResult)
        else count(found.count, "pair")
    )


def skipped_of(result: Result, names: Names) -> model.Skipped:
    """Name what was not read, and why; of an anonymous page the kind of reason alone."""
    table = result.summary.unread
    first = table.slice(0, MAX_SKIPPED)
    paths, reasons = (first[name].to_pylist() for name in ("path", "reason"))
    if names.anonymous:
        reasons = [
            "could not be read" if path in reason else reason.partition(": ")[0]
            for path, reason in zip(paths, reasons, strict=True)
        ]
        paths = [f"file {number}" for number in range(1, len(paths) + 1)]
    return model.Skipped(len(table), paths, reasons)
