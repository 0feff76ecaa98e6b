"""`lookalike plot`: what a result holds, as a picture or a drawing in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import QUIET, Argument, file_name
from lookalike.cli.drawing import PICTURE
from lookalike.cli.options import command
from lookalike.cli.values import OneOf

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

__all__ = ["plot"]

KINDS = ("similarities", "clusters", "estimates")
RESULTS = Argument(
    "results",
    "The folder that find, dedup or contained wrote, or their file; none for estimates.",
    metavar="[RESULTS]",
    required=False,
    type=file_name(),
)
WHAT = click.Option(
    ["--what"],
    type=OneOf(KINDS),
    default=KINDS[0],
    metavar=f"<{'|'.join(KINDS)}>",
    help="Pairs by similarity; clusters by size; or how far estimates are off, by the rows of a "
    "signature.",
)
BARS = 20
"""Bars of a histogram in a terminal."""


@command(None, RESULTS, WHAT, PICTURE, QUIET)
def plot(results: str | None, *, what: str, out: Path | None, quiet: bool) -> None:
    """Draw what a result holds: its pairs by similarity, or its clusters by size.

    With --what estimates, which needs no result, it is how far signatures estimate similarities
    off: by theory, and measured.

    Example: lookalike plot found/ --what clusters -o sizes.svg
    """
    import lookalike
    from lookalike.base.errors import SettingsError
    from lookalike.base.wording import setting
    from lookalike.cli import drawing, screen

    plain = drawing.ascii_only()
    console = screen.status(quiet=quiet)
    write = drawing.check_picture(out, [results] if results else [])
    if what == "estimates":
        if results is not None:
            raise SettingsError(f"{setting('what', what)} is of no result: leave out {results}")
        screen.announce_compiling(console)
        measured = lookalike.estimator_error()
        if out is None:
            _show_estimates(screen.results(), measured)
        write(measured.plot, console)
        return
    if results is None:
        raise SettingsError("name a result to draw, as lookalike plot found/")
    with lookalike.Result.open(results) as result:
        if out is None:
            _show(screen.results(), result, what, plain=plain)
        write(lambda: result.plot(what), console)


def _show(out: Console, result: Any, what: str, *, plain: bool) -> None:
    from lookalike.base.plots.terminal import labelled_bars
    from lookalike.cli.drawing import show_pairs_by_similarity

    if what == "similarities":
        show_pairs_by_similarity(out, result.histogram(BARS), plain=plain)
        return
    sizes = result.cluster_sizes()
    if not sizes:
        out.print("There are no clusters.")
        return
    out.print("Clusters by how many documents they have; the bars are logarithmic.\n")
    labels = [f"{size:,}" for size in sizes]
    for line in labelled_bars(labels, [*sizes.values()], out.width, ascii_only=plain):
        out.print(line, soft_wrap=True)


def _show_estimates(out: Console, measured: Any) -> None:
    from lookalike.base.wording import in_full
    from lookalike.cli.screen import simple_table

    out.print(
        f"The standard error of estimates by the rows of a signature: by theory, sqrt(s(1-s)/k), "
        f"and measured on {measured.pairs} pairs.\n"
    )
    names = [
        f"{in_full(s)}\n{one}>" for s in measured.similarities for one in ("theory", "measured")
    ]
    table = simple_table("similarity\nrows>", *names)
    for column, rows in enumerate(measured.rows):
        both = zip(measured.theory[:, column], measured.measured[:, column], strict=True)
        table.add_row(f"{rows:,}", *(f"{value:.4f}" for pair in both for value in pair))
    out.print(table)
