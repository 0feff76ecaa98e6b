"""What the commands show: consoles, numbers and the plan."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lookalike.base.notices import compiling
from lookalike.base.wording import (
    chance_texts,
    in_full,
    similarity_text,
    visible,
    visible_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table

    from lookalike.planning.plan import Plan

__all__ = [
    "announce_compiling",
    "curve_table",
    "results",
    "say_if_stopped",
    "scores_of",
    "show_curve",
    "show_half",
    "show_json",
    "show_pairs",
    "simple_table",
    "status",
    "stopped",
    "utf8_output",
]

BAR_WIDTH = 24
# Names and texts are printed as they are, whatever brackets and colons they hold.
PLAIN_TEXT: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}


def utf8_output() -> None:
    """Write UTF-8 whatever the locale: ids and passages may be in any script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")


class _Screen(Console):
    """A console that shows text and its own styles, and passes no other command to a terminal.

    A name is made visible where it is put into a line, so that a line break in it does not break
    the line; whatever comes without is made visible here.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Give the pieces of what is shown."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else piece._replace(text=visible_lines(piece.text))

    def on_broken_pipe(self) -> None:
        """Leave it to the command what becomes of a reader that has enough, and of the status."""
        raise BrokenPipeError


def results() -> Console:
    """Give the console of standard output."""
    utf8_output()
    return _Screen(**PLAIN_TEXT)


def status(*, quiet: bool = False) -> Console:
    """Give the console of standard error, which is silent when asked to be."""
    utf8_output()
    return _Screen(stderr=True, quiet=quiet, **PLAIN_TEXT)


def simple_table(*columns: str) -> Table:
    """Make a table without lines around it; columns that end in `>` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        right = column.endswith(">")
        table.add_column(column.rstrip(">"), justify="right" if right else "left", overflow="fold")
    return table


def show_json(value: Any) -> None:
    """Write a value to standard output as a line of JSON."""
    from lookalike.write.files import json_text

    utf8_output()
    print(json_text(value, printable=sys.stdout.isatty()))


def scores_of(pairs: list[dict[str, Any]], score: str = "similarity") -> list[str]:
    """Write the similarities of pairs; estimates are marked."""
    return [
        ("~" if pair.get("score") == "estimated" else "") + similarity_text(pair[score])
        for pair in pairs
    ]


def show_pairs(
    console: Console,
    pairs: list[dict[str, Any]],
    names: tuple[str, str],
    score: str,
    scores: list[str],
    titles: tuple[str, str] | None = None,
    *,
    also: str | None = None,
) -> None:
    """Show pairs in columns, or, where names are long, one name below the other, unbroken.

    `names` are the fields of both documents, `titles` what they are called where that is
    something else, and `also` is a field that is shown too.
    """
    from rich.cells import cell_len
    from rich.text import Text

    titles = titles or names
    named = [(visible(pair[names[0]]), visible(pair[names[1]])) for pair in pairs]
    width = 28 if also else 16
    others = [str(pair[also]) for pair in pairs] if also else [""] * len(pairs)
    if any(cell_len(a) + cell_len(b) + width > console.width for a, b in named):
        if titles != ("a", "b"):
            console.print(f"{score}, {titles[0]}, and {titles[1]} below it\n")
        elif also:
            console.print(f"{score}, and {also} below it\n")
        for score_text, other, (a, b) in zip(scores, others, named, strict=True):
            console.print(Text(f"{score_text:>7}  {a}\n{other:>7}  {b}"), soft_wrap=True)
        return
    columns = [f"{score}>", f"{also}>"] if also else [f"{score}>"]
    rows = simple_table(*columns, *titles)
    for score_text, other, (a, b) in zip(scores, others, named, strict=True):
        rows.add_row(*([score_text, other] if also else [score_text]), Text(a), Text(b))
    console.print(rows)


def curve_table(columns: Sequence[str], rows: Iterable[Sequence[float]]) -> Table:
    """Make the table of a curve: similarities, chances, that of a miss last, and a bar."""
    table = simple_table("similarity>", *(f"{name}>" for name in columns), "")
    for similarity, *before, chance, missed in rows:
        bar = "#" * round(chance * BAR_WIDTH)
        others = (chance_texts(one, 1 - one)[0] for one in before)
        table.add_row(in_full(similarity), *others, *chance_texts(chance, missed), bar)
    return table


def show_half(console: Console, plan: Plan) -> None:
    """Say where the curve of candidates rises."""
    estimate = plan.rule_of_thumb
    means = "(1/b)^(1/r), of bits that agree," if plan.metric == "cosine" else "(1/b)^(1/r)"
    rule = f"; the rule of thumb {means} gives {estimate:.4f}" if estimate is not None else ""
    console.print(f"P = 1/2 at a similarity of {plan.half:.4f}{rule}.")


def show_curve(console: Console, plan: Plan | None) -> None:
    """Show what becomes of pairs of each similarity, where that is a matter of chance."""
    if plan is None or plan.cascade is None or plan.documents <= 1 or plan.distance is not None:
        console.print("There is no curve: every pair that is asked for is found.")
        return
    console.print()
    # Of estimates, what reaches the threshold is found; else a pair below it is only compared.
    compared = "found" if plan.estimated else "compared"
    console.print(curve_table(("candidate", compared, "missed"), plan.table()))
    console.print(f"\n{plan.curve_words()}")
    show_half(console, plan)
    console.print()


def announce_compiling(console: Console) -> None:
    """Say when the first run compiles, so that nobody takes it for the usual time."""
    compiling.listen(lambda message: console.print(visible(message), soft_wrap=True))


_STOPPED_LINE = ["stopped"]


def say_if_stopped(line: str) -> None:
    """Set what is said after Ctrl-C."""
    _STOPPED_LINE[0] = line


def stopped() -> str:
    """Give what is said after Ctrl-C."""
    return _STOPPED_LINE[0]
