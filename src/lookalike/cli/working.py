"""How the commands run a job: what is said while it runs, and on Ctrl-C, and how they end."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from rich.console import Console

    from lookalike.base.errors import LookalikeError

__all__ = ["FAIL_ON", "as_given", "end_if", "end_if_failed", "found_by", "refuse_given", "session"]

Found = TypeVar("Found")
FAILED_ON = 3
"""The exit status of a command that is done, and found what it was asked to fail on."""

FAIL_ON = click.Option(
    ["--fail-on"],
    metavar="any|N|P%",
    help="End with status 3 if anything, N or more, or P percent or more of the documents are "
    "found.",
)


@contextmanager
def session(
    console: Console,
    options: dict[str, Any],
    out: Path | None = None,
    stopped: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Give the options of a job with who hears of its progress, for as long as it runs.

    `out` is where the result goes, of commands of which that is no option of the job. `stopped` is
    what is said after Ctrl-C, where it is no matter of a work folder.
    """
    from lookalike.base.progress import shown
    from lookalike.base.wording import on_command_line, visible
    from lookalike.cli import screen
    from lookalike.write.files import work_beside

    folder = options.get("work") or work_beside(out or options.get("out"))
    if stopped is not None:
        screen.say_if_stopped(stopped)
    elif folder is None:
        kept_by = "--work FOLDER" if "work" in options else "--out FILE"
        screen.say_if_stopped(
            f"stopped; nothing was saved. With {kept_by} a stopped job can be resumed"
        )
    else:
        screen.say_if_stopped(
            f"stopped; run the same command again to resume, or remove {folder} to give it up"
        )
    screen.announce_compiling(console)
    with shown(console) as progress:
        yield (options if options.get("out") else options | _of_screen(options)) | {
            "progress": progress,
            "say": lambda line: console.print(visible(on_command_line(line)), soft_wrap=True),
        }


def found_by(search: Callable[[], Found]) -> tuple[Found, LookalikeError | None]:
    """Give what a search finds, and why a page on it could not be written, if it could not.

    What was found is shown all the same: it may have taken an hour.
    """
    from lookalike.base.errors import LookalikeError

    try:
        return search(), None
    except LookalikeError as error:
        if error.result is None:
            raise
        return error.result, error


def end_if_failed(failure: LookalikeError | None) -> None:
    """End a command whose page could not be written, after it showed what was found."""
    if failure is not None:
        raise failure


def _of_screen(options: dict[str, Any]) -> dict[str, Any]:
    """Keep from a job the format of what is shown, which is no concern of its own."""
    return {"format": None} if "format" in options else {}


def as_given(options: dict[str, Any], declared: Any) -> dict[str, Any]:
    """Give the options without those that were not given, and are as their class has them."""
    context = click.get_current_context()
    defaults = {one.name: one.default for one in fields(declared)}

    def is_left_out(name: str, value: Any) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "DEFAULT" and value == defaults[name]

    return {name: value for name, value in options.items() if not is_left_out(name, value)}


def refuse_given(names: Iterable[str], why: str) -> None:
    """Refuse options that were given and would do nothing."""
    from lookalike.base.errors import SettingsError

    context = click.get_current_context()
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--" + name.rstrip("_").replace("_", "-")
            raise SettingsError(f"{option} does nothing {why}: leave it out")


def limit_of(fail_on: str | None) -> tuple[Fraction, bool] | None:
    """Read what a command is to fail on: so many, or such a share of the documents."""
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import setting

    if fail_on is None:
        return None
    if fail_on == "any":
        return Fraction(1), False
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%?)", fail_on)
    most = 100 if found and found[2] else math.inf
    if not found or (not found[2] and "." in found[1]) or not 0 < float(found[1]) <= most:
        raise SettingsError(
            f"{setting('fail_on', fail_on)}: use any, a whole number from 1, as 10, or a share up "
            "to 100%, as 5%"
        )
    # As fractions, so that 0.7 % of 1,000 are 7.
    return Fraction(found[1]) / (100 if found[2] else 1), bool(found[2])


def end_if(fail_on: str | None, found: int, concerned: int, documents: int) -> None:
    """End with status 3 where so much was found: pairs, or documents that are in one."""
    limit = limit_of(fail_on)
    if limit is None:
        return
    least, is_share = limit
    if (Fraction(concerned, max(documents, 1)) if is_share else found) >= least:
        raise click.exceptions.Exit(FAILED_ON)
