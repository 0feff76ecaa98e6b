"""`lookalike report`: a result as one page that opens from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.cli.command import QUIET, Argument, file_name
from lookalike.cli.options import command
from lookalike.settings import ReportOptions

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.reports.writing import Page

__all__ = ["report", "say_written"]


RESULTS = Argument(
    "results",
    "The folder that find, dedup or contained wrote, or their file.",
    type=file_name(),
)


@command(ReportOptions, RESULTS, QUIET)
def report(results: str, options: dict[str, Any], *, quiet: bool) -> None:
    """Write a result as one HTML page: pairs side by side, clusters, shared passages.

    The page is one file that opens from disk, without a network. Texts are read again where they
    were, or where --texts says that they are now; if they are gone or changed, the page has none
    and says so.

    Example: lookalike report found/ -o report.html --label author --date written
    """
    import lookalike
    from lookalike.base.progress import shown
    from lookalike.cli import screen

    console = screen.status(quiet=quiet)
    screen.say_if_stopped("stopped; no page was written. Run the same command again")
    screen.announce_compiling(console)
    with shown(console) as progress:
        page = lookalike.report(results, **options, progress=progress)
    say_written(console, page)


def say_written(console: Console, page: Page) -> None:
    """Say what a page has, and what it leaves out."""
    from lookalike.base.wording import on_command_line, visible
    from lookalike.cli.summary import wrapped

    for line in page.lines():
        shown = visible(on_command_line(line))
        console.print(wrapped(shown, console.width, indent=11), soft_wrap=True)
