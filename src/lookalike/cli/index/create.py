"""`lookalike index create`: a new index, and how its documents are compared."""

from __future__ import annotations

from typing import Any

from lookalike.cli.command import AS_JSON, QUIET
from lookalike.cli.index.opening import INDEX
from lookalike.cli.options import command
from lookalike.settings.index_options import IndexCreateOptions

__all__ = ["create"]


@command(IndexCreateOptions, INDEX, AS_JSON, QUIET)
def create(address: str, options: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Make a new index, and choose once how its documents are compared.

    With --like the shingle, bands and rows are chosen for a sample of what will come, which is not
    added, or are those of another index; without it, by the options alone. Queries may ask for any
    threshold from that of the index on.

    Example: lookalike index create pages.lookalike --like crawl/part-0.jsonl
    """
    import lookalike
    from lookalike.base.wording import visible
    from lookalike.cli import screen, working
    from lookalike.cli.index.facts import made_lines, say_facts, seconds_fact
    from lookalike.cli.summary import say_warnings

    console = screen.status(quiet=quiet)
    if options["like"]:
        options["like"] = lookalike.paths(*options["like"])
    with working.session(console, options, stopped="stopped; no index was made") as given:
        made = lookalike.Index.create(address, **given)
    with made:
        say_warnings(console, tuple(made.warnings))
        lines = [f"Created    {visible(made.address)}", *made_lines(made), seconds_fact()]
        say_facts(console, lines)
        if as_json:
            screen.show_json(made.info())
