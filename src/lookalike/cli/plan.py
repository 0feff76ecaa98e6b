"""`lookalike plan`: bands and rows for a threshold, a recall and a corpus, with the curve."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET, SOURCE, Argument
from lookalike.cli.drawing import PICTURE
from lookalike.cli.options import command
from lookalike.settings import PlanCommandOptions, PlanCorpusOptions, PlanOptions

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lookalike.planning.plan import Plan

__all__ = ["plan"]

CORPUS = Argument(
    "source",
    "The corpus to plan for, by its sample; files as those of find. Without one the plan is for "
    "what is assumed of a corpus.",
    metavar="[SOURCE]...",
    nargs=-1,
    type=SOURCE.type,
)
BARS = 20
"""Bars of the histogram in a terminal."""


@command(PlanCommandOptions, CORPUS, PICTURE, AS_JSON, QUIET)
def plan(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Choose bands and rows of least cost for a threshold and a recall, and show the curve.

    With a SOURCE they are chosen for its documents, as find does by a sample of them; the picture
    then has their pairs by similarity under the curve.

    Example: lookalike plan --threshold 0.7 --recall 0.95 --documents 20000
    """
    import lookalike
    from lookalike.cli import drawing, screen, working

    plain = drawing.ascii_only()
    write = drawing.check_picture(out, source)
    assumed = {one.name for one in fields(PlanOptions)}
    measured = {one.name for one in fields(PlanCorpusOptions)}
    console = screen.status(quiet=quiet)
    if source:
        working.refuse_given(sorted(assumed - measured), "with a SOURCE, whose sample tells")
        given_options = {name: options[name] for name in measured & options.keys()}
        stopped = "stopped; nothing was planned"
        with working.session(console, given_options, stopped=stopped) as given:
            chosen = lookalike.plan_corpus(lookalike.paths(*source), **given)
    else:
        working.refuse_given(sorted(measured - assumed), "without a SOURCE")
        chosen = lookalike.plan(**{name: options[name] for name in assumed})
    unused = max(0, (options["signature"] or 0) - chosen.signature)
    _warn(console, chosen, options["signature"], unused)
    if as_json:
        screen.show_json(_facts(chosen, unused))
    else:
        _show(screen.results(), chosen, plain=plain, drawn=out is None)
    write(chosen.plot, console)


def _warn(console: Console, chosen: Plan, signature: int | None, unused: int) -> None:
    """Say which rows of a given length are of no use."""
    from lookalike.base.wording import count

    if unused and signature is not None:
        row = "bit" if chosen.metric == "cosine" else "row"
        are = "are" if unused > 1 else "is"
        console.print(
            f"Warning: {unused:,} of {count(signature, row)} {are} in no band and not used: "
            f"{count(chosen.signature, row)} do the same."
        )


def _facts(chosen: Plan, unused: int) -> dict[str, Any]:
    facts = {
        "metric": chosen.metric,
        "threshold": chosen.threshold,
        "recall": chosen.recall,
        "bands": chosen.bands,
        "rows": chosen.rows,
        "signature": chosen.signature,
        "unused": unused,
        "found_at_threshold": chosen.probability(chosen.threshold),
        "false_candidates": chosen.false_candidates,
        "curve": [point._asdict() for point in chosen.table()],
    }
    histogram = chosen.histogram()
    if histogram is not None:
        facts |= {"documents": chosen.documents, "shingle": chosen.shingle}
        facts |= {"histogram": histogram.as_dict()}
    return facts


def _show(out: Console, chosen: Plan, *, plain: bool, drawn: bool) -> None:
    """Show a plan as a sentence, a drawing and tables."""
    from lookalike.cli import drawing, screen

    out.print(f"Plan: {chosen.sentence()}")
    has_curve = chosen.cascade is not None and chosen.documents > 1
    if drawn and has_curve:
        out.print()
        candidates = chosen.curves()[:1]
        drawing.show_curves(out, candidates, plain=plain, threshold=chosen.threshold)
    if chosen.cascade is not None:
        screen.show_curve(out, chosen)
    histogram = chosen.histogram(BARS)
    if drawn and histogram is not None:
        if not has_curve:
            out.print()
        drawing.show_pairs_by_similarity(out, histogram, plain=plain)
