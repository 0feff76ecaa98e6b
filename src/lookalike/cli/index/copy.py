"""`lookalike index copy`: an index as it is at one moment."""

from __future__ import annotations

from pathlib import Path

from lookalike.cli.command import AS_JSON, QUIET, Argument, file_name
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command

__all__ = ["copy"]

COPY = Argument("target", "A new file.", metavar="COPY", type=file_name(Path))


@command(None, INDEX, COPY, AS_JSON, QUIET)
def copy(address: str, target: Path, *, as_json: bool, quiet: bool) -> None:
    """Copy an index as it is at this moment, while others may write to it.

    It is the way to a backup: the file alone, copied by other means, may lack what is in the log
    beside it.

    Example: lookalike index copy pages.lookalike backup.lookalike
    """
    from lookalike.base.memory import size
    from lookalike.base.wording import visible
    from lookalike.cli import screen
    from lookalike.cli.index.facts import say_facts, seconds_fact

    console = screen.status(quiet=quiet)
    with opened(address, read_only=True) as index:
        index.copy(target)
    room = target.stat().st_size
    what = f"{visible(index.address)} to {visible(target)}, {size(room)}"
    say_facts(console, [f"Copied     {what}", seconds_fact()])
    if as_json:
        screen.show_json({"index": index.address, "copy": str(target), "bytes": room})
