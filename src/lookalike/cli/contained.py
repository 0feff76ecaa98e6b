"""`lookalike contained`: which documents are inside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET, SOURCE
from lookalike.cli.options import command
from lookalike.cli.working import FAIL_ON
from lookalike.settings import ContainedOptions

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.results import ContainmentResult

__all__ = ["contained"]

SHOWN_PAIRS = 20


@command(ContainedOptions, SOURCE, AS_JSON, FAIL_ON, QUIET)
def contained(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    as_json: bool,
    fail_on: str | None,
    quiet: bool,
) -> None:
    """Find which documents are inside others: quotes, excerpts, parts of a longer text.

    Each row is a part and the whole that it is inside; two copies are one row. Every such pair is
    found, exactly.

    Example: lookalike contained essays/ --containment 0.8
    """
    import lookalike
    from lookalike.base.wording import count
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, read_by_another, show_facts, write_out
    from lookalike.cli.summary import say_warnings, score_lines, summarise

    working.limit_of(fail_on)
    kind = kind_of(options, as_json=as_json)
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        result = lookalike.contained(lookalike.paths(*source), **given)
    with result:
        with read_by_another():
            if as_json:
                show_facts(result.record(), pairs=result.top(SHOWN_PAIRS).to_pylist())
            elif kind == "table":
                _show(result, screen.results())
            elif kind is not None:
                write_out(result.pair_blocks(), kind, result.summary.seconds)
        if not result.was_there:
            say_warnings(console, result.summary.warnings)
            facts = [
                f"Found      {count(result.pair_count, 'pair')} of a part and its whole",
                *score_lines(result.summary),
            ]
            summarise(console, result.summary, facts, result.empty, options["out"])
        working.end_if(fail_on, result.pair_count, result.inside_count, result.summary.documents)


def _show(result: ContainmentResult, console: Console) -> None:
    from lookalike.base.wording import count, percent
    from lookalike.cli.screen import show_pairs

    if not result.summary.documents:
        console.print("There are no documents to compare.")
        return
    least = f"{100 * (result.settings.containment or 0):g}%"
    if not result.pair_count:
        console.print(f"No document has {least} or more of its shingles in another.")
        return
    title = f"{count(result.pair_count, 'pair')}: {least} or more of the part is in the whole"
    if result.pair_count > SHOWN_PAIRS:
        title += f"; the {SHOWN_PAIRS} largest shares, --format jsonl writes all"
    console.print(f"{title}\n")
    pairs = result.top(SHOWN_PAIRS).to_pylist()
    shares = ["copies" if pair["copies"] else percent(pair["share"]) for pair in pairs]
    show_pairs(console, pairs, ("part", "whole"), "share", shares)
    console.print()
