"""`lookalike index compact`: the room of what was removed, given back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.cli.command import AS_JSON, QUIET
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command

if TYPE_CHECKING:
    from lookalike.index.index import Index

__all__ = ["compact"]

LOG = "-wal"
"""What SQLite puts at the end of a name for the log beside a file."""


@command(None, INDEX, AS_JSON, QUIET)
def compact(address: str, *, as_json: bool, quiet: bool) -> None:
    """Sweep what is left of removed documents, and give their room back.

    The index is written anew, which takes as much room again while it lasts.

    Example: lookalike index compact pages.lookalike
    """
    from lookalike.base.memory import size
    from lookalike.cli import screen
    from lookalike.cli.index.facts import say_facts, seconds_fact

    console = screen.status(quiet=quiet)
    with opened(address) as index:
        before = _room(index)
        index.compact()
        after = _room(index)
    back = f"{size(before - after)} given back" if before > after else "nothing to give back"
    say_facts(console, [f"Compacted  {size(before)} to {size(after)}, {back}", seconds_fact()])
    if as_json:
        screen.show_json({"index": index.address, "bytes_before": before, "bytes": after})


def _room(index: Index) -> int:
    """Tell how many bytes an index takes, with the log beside a file."""
    files = [Path(index.address), Path(f"{index.address}{LOG}")]
    there = [path.stat().st_size for path in files if path.is_file()]
    room: int = sum(there) if there else index.info()["bytes"]
    return room
