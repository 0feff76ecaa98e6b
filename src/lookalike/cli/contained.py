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

    Each pair has a direction: the first is inside the second. Every such pair is found, exactly.

    Example: lookalike contained essays/ --containment 0.8
    """
    import lookalike
    from lookalike.base.wording import count
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, show_facts, write_out
    from lookalike.cli.summary import say_warnings, summarise

    working.limit_of(fail_on)
    kind = kind_of(options, as_json=as_json)
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        result = lookalike.contained(lookalike.paths(*source), **given)
    with result:
        if as_json:
            show_facts(result.record(), pairs=result.top(SHOWN_PAIRS).to_pylist())
        elif kind == "table":
            _show(result, screen.results())
        elif kind is not None:
            write_out(result.pair_blocks(), kind)
        if not result.was_there:
            say_warnings(console, result.summary.warnings)
            found = count(result.pair_count, "pair")
            facts = [f"Found      {found} of which one is inside the other"]
            summarise(console, result.summary, facts, result.empty)
        working.end_if(fail_on, result.pair_count, result.inside_count, result.summary.documents)


def _show(result: ContainmentResult, console: Console) -> None:
    from lookalike.base.wording import count
    from lookalike.cli.screen import show_pairs

    if not result.summary.documents:
        console.print("There are no documents to compare.")
        return
    if not result.pair_count:
        console.print(f"No document is to {result.settings.containment:g} inside another.")
        return
    title = f"{count(result.pair_count, 'pair')} by {result.settings.shingle}"
    if result.pair_count > SHOWN_PAIRS:
        title += f", the {SHOWN_PAIRS} most contained; --format jsonl writes all"
    console.print(f"{title}\n")
    pairs = result.top(SHOWN_PAIRS).to_pylist()
    titles = ("inside", "outside")
    show_pairs(console, pairs, "containment", ("a", "b"), titles, also="similarity")
    console.print()
