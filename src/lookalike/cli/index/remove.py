"""`lookalike index remove`: documents by their ids, or by their metadata."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lookalike.cli.command import AS_JSON, QUIET, Argument, file_name
from lookalike.cli.index.opening import DURABLE, INDEX, opened
from lookalike.cli.options import command

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["remove"]

SHOWN_MISSING = 5
IDS = Argument("id_", "Ids of documents.", metavar="[ID...]", nargs=-1, required=False)
WHERE = click.Option(
    ["--where"],
    metavar="CONDITION",
    help="Remove all whose metadata meets this, as \"source = 'web' and seen < '2026-01-01'\".",
)
LISTED = click.Option(
    ["--ids"],
    type=file_name(),
    metavar="FILE",
    help="Remove those whose ids are in this file, one a line; - for standard input.",
)


@command(None, INDEX, IDS, WHERE, LISTED, DURABLE, AS_JSON, QUIET)
def remove(
    address: str,
    id_: tuple[str, ...],
    *,
    where: str | None,
    ids: str | None,
    durable: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Remove documents from an index, by their ids or by a condition on their metadata.

    A condition compares fields with =, !=, <, <=, >, >=, in (…) and is null, joined by and, or and
    not. Texts and dates stand in single quotes.

    Example: lookalike index remove pages.lookalike --where "source = 'old'"
    """
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import count, shortened
    from lookalike.cli import screen
    from lookalike.cli.index.facts import say_facts

    given = [bool(id_), where is not None, ids is not None]
    if sum(given) != 1:
        what = "give one of them" if sum(given) else "say which documents"
        raise SettingsError(f"{what}: ids, --ids FILE or --where CONDITION")
    names: Sequence[str] = id_ if ids is None else _listed(ids)
    console = screen.status(quiet=quiet)
    screen.announce_compiling(console)
    screen.say_if_stopped("stopped; what was removed until now is gone from the index")
    with opened(address, durable=durable) as index:
        missing = index.missing(dict.fromkeys(names))
        removed = index.remove(names, where=where)
    lines = [f"Removed    {count(removed, 'document')}"]
    if missing:
        shown = ", ".join(shortened(name) for name in missing[:SHOWN_MISSING])
        more = ", …" if len(missing) > SHOWN_MISSING else ""
        lines.append(f"Not there  {count(len(missing), 'id')}: {shown}{more}")
    say_facts(console, lines)
    if as_json:
        screen.show_json({"index": index.address, "removed": removed, "missing": missing})


def _listed(path: str) -> list[str]:
    """Read ids, one a line."""
    from lookalike.base.errors import SourceError

    name = "standard input" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise SourceError(f"{name} is not UTF-8 text: convert it, one id a line") from None
    except OSError as error:
        raise SourceError(f"{name} cannot be read: {error.strerror or error}") from None
    ids = [line.removesuffix("\r") for line in lines]
    return [one for one in ids if one]
