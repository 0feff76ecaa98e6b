"""`lookalike index add`: documents of any source on their way into an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET, SOURCE
from lookalike.cli.index.opening import DURABLE, INDEX, opened
from lookalike.cli.options import command
from lookalike.settings.index_options import IndexAddOptions

if TYPE_CHECKING:
    from lookalike.index.adding import Added

__all__ = ["add", "added_facts", "added_text"]

STOPPED = "stopped; what was added until now is in the index: run the same command again to go on"


@command(IndexAddOptions, INDEX, SOURCE, DURABLE, AS_JSON, QUIET)
def add(
    address: str,
    source: tuple[str, ...],
    options: dict[str, Any],
    *,
    durable: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Add documents to an index, each in the place of one with the same id.

    With --new-only a document is added only if it is similar to none in the index, nor to one of
    the source before it. An addition that was stopped goes on when the same command is run again.

    Example: lookalike index add pages.lookalike crawl/*.jsonl --metadata source
    """
    import lookalike
    from lookalike.base.errors import SettingsError
    from lookalike.cli import screen, working
    from lookalike.cli.index.facts import say_facts, seconds_fact, unread_lines
    from lookalike.index.opening import is_index

    console = screen.status(quiet=quiet)
    with opened(address, source, durable=durable) as index:
        if any(map(is_index, source)):
            raise SettingsError(
                "an index is no SOURCE: to add the documents of another one, "
                f"lookalike index merge {index.address} OTHER"
            )
        with working.session(console, options, stopped=STOPPED) as given:
            added = index.add_all(lookalike.paths(*source), **given)
    lines = [f"Added      {added_text(added)}", *unread_lines(added.unread), seconds_fact()]
    if options["new_only"]:
        similar = f"{added.similar:,} similar to one that was there before, not added"
        lines.insert(1, f"Similar    {similar}")
    if added.empty:
        lines.insert(1, f"Empty      {added.empty:,} of them, similar to nothing")
    say_facts(console, lines)
    if as_json:
        screen.show_json({"index": index.address, **added_facts(added)})


def added_text(added: Added) -> str:
    """Say how many documents were added, and how many of them in the place of others."""
    from lookalike.base.wording import count

    text = count(added.documents, "document")
    if added.replaced:
        text += f", {added.replaced:,} in the place of {'others' if added.replaced > 1 else 'one'}"
        text += " with the same id"
    if added.identical:
        text += f", {added.identical:,} with a text that was there before"
    return text


def added_facts(added: Added) -> dict[str, Any]:
    """Give what became of documents, for JSON."""
    from lookalike.cli.index.facts import unread_facts

    return {
        "documents": added.documents,
        "replaced": added.replaced,
        "identical": added.identical,
        "empty": added.empty,
        "similar": added.similar,
        **unread_facts(added.unread),
    }
