"""`lookalike index info`: what an index is made by, holds and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.index.index import Index

__all__ = ["info"]

PARTS = {
    "documents": "ids and metadata",
    "entries": "fingerprints and sketches",
    "texts": "documents, compressed",
    "bands": "band keys",
    "crowds": "band keys that many share",
}
"""What takes room, as a person is told."""


@command(None, INDEX, AS_JSON, QUIET)
def info(address: str, *, as_json: bool, quiet: bool) -> None:
    """Say how the documents of an index are compared, how many there are, and what they cost.

    Example: lookalike index info pages.lookalike
    """
    from lookalike.cli import screen

    del quiet  # what it says is its result, and nothing else is said
    with opened(address, read_only=True) as index:
        facts = index.info()
        if as_json:
            screen.show_json(facts)
            return
        out = screen.results()
        _show(index, facts, out)
        screen.show_curve(out, index.plan)


def _show(index: Index, facts: dict[str, Any], out: Console) -> None:
    from lookalike.base.wording import count, shortened, visible
    from lookalike.cli.index.facts import made_lines, say_facts

    documents, distinct = facts["documents"], facts["distinct"]
    lines = [
        f"Index      {visible(facts['address'])}",
        f"Format     {facts['format']}, recipe {facts['recipe']}",
        f"Documents  {documents:,}, {distinct:,} of them distinct",
        *made_lines(index),
        f"Threshold  {facts['threshold']:g} and above can be asked for",
        f"Ids        {facts['ids']}",
    ]
    if facts["normalise"] != "default":
        lines.insert(3, f"Normalise  {facts['normalise']}")
    if facts["metadata"]:
        fields = (f"{shortened(name)} ({kind})" for name, kind in sorted(facts["metadata"].items()))
        lines.append(f"Metadata   {', '.join(fields)}")
    if facts["removed"]:
        gone = count(facts["removed"], "removed document")
        lines.append(f"Removed    {gone} whose room `lookalike index compact` gives back")
    if documents > facts["planned_for"]:
        lines.append(
            f"Warning    there are more documents than the {facts['planned_for']:,} that were "
            "planned for: answers are as good, and take longer"
        )
    say_facts(out, lines)
    if documents:
        _show_room(facts, out)


def _show_room(facts: dict[str, Any], out: Console) -> None:
    from lookalike.base.memory import size
    from lookalike.base.wording import count
    from lookalike.cli.index.facts import say_facts
    from lookalike.cli.screen import simple_table

    table = simple_table("what takes room", "bytes>", "a document>")
    shown = {name: taken for name, taken in facts["bytes_by_part"].items() if taken}
    for name, taken in shown.items():
        each = facts["bytes_per_document"][name]
        table.add_row(PARTS.get(name, name), f"{taken:,}", f"{each:,.1f}")
    total = facts["bytes"]
    table.add_row("all", f"{total:,}", f"{total / facts['documents']:,.1f}")
    out.print()
    out.print(table)
    out.print()
    sizes = ", ".join(f"{one:,}" for one in facts["largest_buckets"])
    worst = facts["worst_query"]
    looked_at = f"{count(worst['sketches'], 'sketch', 'sketches')} ({size(worst['bytes'])})"
    at_worst = f"looks at {looked_at} at the worst, and unpacks only what these do not rule out"
    held = f"the largest hold {sizes} distinct documents"
    say_facts(out, [f"Buckets    {held}", f"A query    {at_worst}"])
