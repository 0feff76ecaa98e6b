"""What ran, what was found, what was skipped: the first screen of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike import __version__
from lookalike.base.wording import (
    Message,
    count,
    counted_reasons,
    similarity_text,
    skipped_by_kind,
)
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
        return f"{count(found.count, 'removed document')} of {documents}"
    if isinstance(result, ContainmentResult):
        return f"{count(found.count, 'document pair')} of a part and a whole, in {documents}"
    return f"{count(found.count, 'similar pair')} in {documents}"


def summary_of(
    result: Result,
    found: FoundPairs,
    names: Names,
    *,
    label: str | None,
    date: str | None,
    left_out: list[str],
    files: list[model.Link],
) -> model.Summary:
    """Give what ran and what came of it."""
    record = result.record()
    settings = result.settings
    contained = isinstance(result, ContainmentResult) or settings.rule == "contained"
    # A line on how a file was read names it.
    notes = [] if names.anonymous else [str(Message(line)) for line in record["notes"]]
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
        warnings=[str(Message(line)) for line in (*record["warnings"], *doubts)],
        notes=notes,
        left_out=left_out,
        files=[] if names.anonymous else files,
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
    """Say what was read and found, a name and a value each."""
    summary = result.summary
    facts = [("Read", count(summary.documents - summary.references, "document"))]
    if summary.references:
        facts.append(("Against", count(summary.references, "reference document")))
    for kind, reasons in skipped_by_kind(summary.skipped).items():
        if reasons:
            facts.append(("Skipped", counted_reasons(kind, reasons)))
    if summary.bad_count:
        facts.append(("Bad", f"{summary.bad_count:,} could not be read, and were skipped as asked"))
    if summary.empty:
        facts.append(("Empty", f"{summary.empty:,}, similar to nothing"))
    if summary.identical:
        facts.append(("Identical", f"{summary.identical:,} to another, compared as one"))
    if not isinstance(result, ContainmentResult):
        facts.append(("Compared", summary.compared_text()))
    facts.append(("Found", title_of(result, found)))
    if isinstance(result, FindResult) and summary.nearest is not None:
        below = similarity_text(summary.nearest.similarity, result.settings.threshold)
        which = "all pairs" if summary.nearest.whole else "the pairs that were compared"
        facts.append(("Nearest", f"Of {which}, the most similar below the threshold has {below}."))
    plan: Any = result.record()["plan"]
    if plan is not None:
        facts.append(("Plan", plan["sentence"]))
    if summary.score:
        facts.append(("Score", summary.score))
    facts.append(("Seconds", f"{result.record()['seconds'].get('total', 0):.1f}"))
    return facts


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
