"""`lookalike index check`: whether all that an index holds is what was added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import AS_JSON, QUIET
from lookalike.cli.index.opening import INDEX, opened
from lookalike.cli.options import command

if TYPE_CHECKING:
    from lookalike.index.checking import Checked

__all__ = ["check"]


@command(None, INDEX, AS_JSON, QUIET)
def check(address: str, *, as_json: bool, quiet: bool) -> None:
    """Read all of an index, and tell whether it is what was added, or what of it is damaged.

    Others may read it and write to it meanwhile. It ends with status 1 where something is damaged.

    Example: lookalike index check pages.lookalike
    """
    from lookalike.base.errors import DamagedError
    from lookalike.base.wording import count
    from lookalike.cli import screen, working
    from lookalike.cli.index.facts import say_facts, seconds_fact

    console = screen.status(quiet=quiet)
    with opened(address, read_only=True) as index:
        with working.session(console, {}, stopped="stopped; the index is as it was") as given:
            checked = index.check(progress=given["progress"])
        if as_json:
            screen.show_json(_facts(index.address, checked))
        if not checked.whole:
            raise DamagedError(checked.told(index.address))
    what = f"{count(checked.documents, 'document')}, {checked.distinct:,} of them distinct"
    rows = f"{count(checked.rows, 'row')} of bands"
    say_facts(console, [f"Whole      {what}, with {rows}", seconds_fact()])


def _facts(address: str, checked: Checked) -> dict[str, Any]:
    """Give what was found, for JSON."""
    return {
        "index": address,
        "whole": checked.whole,
        "documents": checked.documents,
        "distinct": checked.distinct,
        "rows": checked.rows,
        "faults": [
            {"what": one.what, "documents": one.count, "ids": one.ids} for one in checked.faults
        ],
    }
