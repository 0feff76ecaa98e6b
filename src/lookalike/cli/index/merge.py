"""`lookalike index merge`: the documents of other indexes."""

from __future__ import annotations

from lookalike.cli.command import AS_JSON, QUIET, Argument, file_name
from lookalike.cli.index.opening import DURABLE, opened
from lookalike.cli.options import command

__all__ = ["merge"]

INTO = Argument("into", "The index that they are added to.", type=file_name())
OTHERS = Argument(
    "others",
    "Indexes that were made in the same way; they are not changed.",
    metavar="OTHER...",
    nargs=-1,
    required=True,
    type=file_name(),
)


@command(None, INTO, OTHERS, DURABLE, AS_JSON, QUIET)
def merge(into: str, others: tuple[str, ...], *, durable: bool, as_json: bool, quiet: bool) -> None:
    """Add the documents of other indexes, each in the place of one with the same id.

    All must have been made in the same way: by index create --like with one of them, or with the
    same options and sample.

    Example: lookalike index merge all.lookalike monday.lookalike tuesday.lookalike
    """
    from lookalike.base.wording import count
    from lookalike.cli import screen
    from lookalike.cli.index.add import added_facts, added_text
    from lookalike.cli.index.facts import say_facts, seconds_fact

    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    screen.say_if_stopped("stopped; run the same command again: what was merged is replaced")
    with opened(into, durable=durable) as index:
        added = index.merge(*others)
    merged = count(len(others), "index", "indexes")
    say_facts(console, [f"Merged     {merged}: {added_text(added)}", seconds_fact()])
    if as_json:
        screen.show_json({"index": index.address, **added_facts(added)})
