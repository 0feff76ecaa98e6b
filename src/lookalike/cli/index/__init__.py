"""`lookalike index`: documents that were seen, and which of them a new one is similar to."""

from __future__ import annotations

from pathlib import Path

from lookalike.base.wording import either, quoted
from lookalike.cli.group import Group

__all__ = ["COMMANDS", "index"]

COMMANDS = {
    "create": "Make a new index, and choose how its documents are compared.",
    "add": "Add documents, or only those that are new.",
    "query": "Find the documents of an index that are similar to others.",
    "remove": "Remove documents by their ids or their metadata.",
    "merge": "Add the documents of other indexes.",
    "export": "Write the documents to a Parquet file.",
    "copy": "Copy an index, while others may write to it.",
    "check": "Tell whether all that an index holds is what was added.",
    "compact": "Give back the room of what was removed.",
    "info": "Say what an index is made by, holds and costs.",
}
"""Each stands in a module of its name, which is loaded when it is asked for."""


def _no_such_command(given: str) -> str:
    """Say that there is no such command, and which may be meant."""
    if Path(given).exists() or given.endswith(".lookalike"):
        return f"{quoted(given)} is no command of lookalike index: as in lookalike index info INDEX"
    from difflib import get_close_matches

    meant = either(get_close_matches(given, [*COMMANDS], n=2))
    ask = f": did you mean {meant}?" if meant else ":"
    return f"there is no command {quoted(given)}{ask} lookalike index --help lists them"


index = Group(
    "index",
    "lookalike.cli.index",
    COMMANDS,
    _no_such_command,
    help="""Keep documents in an index, and ask it which of them a new one is similar to.

    An index is one file, as pages.lookalike, or on a PostgreSQL server, as postgresql://host/db.
    Many may read it while one writes.
    """,
    epilog="Example: lookalike index query pages.lookalike new.txt",
)
