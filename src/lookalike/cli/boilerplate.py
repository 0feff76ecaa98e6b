"""`lookalike boilerplate`: the passages that many documents share."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET, SOURCE
from lookalike.cli.options import command
from lookalike.cli.working import FAIL_ON
from lookalike.settings import BoilerplateOptions

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.results import BoilerplateResult

__all__ = ["boilerplate"]

SHOWN_CHARACTERS = 200
"""Characters of a passage that are shown on a screen."""


@command(BoilerplateOptions, SOURCE, AS_JSON, FAIL_ON, QUIET)
def boilerplate(
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    as_json: bool,
    fail_on: str | None,
    quiet: bool,
) -> None:
    """List the passages that the most documents share: headers, licences, signatures.

    What --ignore FILE leaves out of a comparison is often found here first.

    Example: lookalike boilerplate pages.jsonl
    """
    import lookalike
    from lookalike.base.wording import count
    from lookalike.cli import screen, working
    from lookalike.cli.output import kind_of, read_by_another, show_facts, write_out
    from lookalike.cli.summary import say_warnings, summarise

    working.limit_of(fail_on)
    kind = kind_of(options, as_json=as_json)
    console = screen.status(quiet=quiet)
    with working.session(console, options) as given:
        result = lookalike.boilerplate(lookalike.paths(*source), **given)
    with result:
        with read_by_another():
            if as_json:
                show_facts(result.record(), passages=result.passages.to_pylist())
            elif kind == "table":
                _show(result, screen.results())
            elif kind is not None:
                write_out(iter([result.passages]), kind, result.summary.seconds)
        if not result.was_there:
            say_warnings(console, result.summary.warnings)
            facts = [f"Found      {count(len(result.passages), 'shared passage')}"]
            summarise(console, result.summary, facts, result.empty, options["out"])
        most = max(result.passages["documents"].to_pylist(), default=0)
        # Identical documents count as one, as in the table.
        working.end_if(fail_on, len(result.passages), most, result.summary.distinct)


def _show(result: BoilerplateResult, console: Console) -> None:
    from rich.text import Text

    from lookalike.base.wording import count, visible
    from lookalike.cli.screen import simple_table

    if not len(result.passages):
        console.print("No passage is shared by two documents.")
        return
    distinct = count(result.summary.distinct, "distinct document")
    console.print(f"The passages shared by the most of {distinct}\n")
    rows = simple_table("documents>", "share>", "words>", "passage")
    for one in result.passages.to_pylist():
        text = textwrap.shorten(one["text"], SHOWN_CHARACTERS, placeholder=" …")
        cells = f"{one['documents']:,}", f"{one['share']:.0%}", f"{one['words']:,}"
        rows.add_row(*cells, Text(visible(text)))
    console.print(rows)
    console.print()
