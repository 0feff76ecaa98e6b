"""What the commands show: consoles, numbers, progress and the plan."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from lookalike.base.memory import size
from lookalike.base.notices import compiling
from lookalike.base.wording import floor, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table

    from lookalike.planning.plan import Plan

    Progress = Callable[[str, int, int], None]

__all__ = [
    "announce_compiling",
    "curve_table",
    "number",
    "progress",
    "results",
    "say_if_stopped",
    "show_curve",
    "show_half",
    "show_json",
    "show_pairs",
    "show_plan",
    "simple_table",
    "status",
    "stopped",
    "utf8_output",
]

BAR_WIDTH = 24
PROGRESS_SECONDS = 5.0
"""Seconds between two lines of progress where there is no terminal."""
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


def results() -> Console:
    """Give the console of standard output."""
    utf8_output()
    return _Screen(**PLAIN_TEXT)


def status(*, quiet: bool = False) -> Console:
    """Give the console of standard error, which is silent when asked to be."""
    utf8_output()
    return _Screen(stderr=True, quiet=quiet, **PLAIN_TEXT)


def number(similarity: float) -> str:
    """Write a similarity to 4 digits, never above what it is: 1 is for the same shingles only."""
    return floor(similarity, 4)


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


def _number_text(value: float) -> str:
    return str(value) if isinstance(value, int) else number(value)


def show_pairs(
    console: Console,
    pairs: list[dict[str, Any]],
    score: str,
    fields: tuple[str, str],
    titles: tuple[str, str] | None = None,
    *,
    also: str | None = None,
) -> None:
    """Show pairs in columns, or, where names are long, one name below the other, unbroken."""
    from rich.cells import cell_len
    from rich.text import Text

    names = [(visible(pair[fields[0]]), visible(pair[fields[1]])) for pair in pairs]
    scores = [
        ("~" if pair.get("score") == "estimated" else "") + number(pair[score]) for pair in pairs
    ]
    width = 28 if also else 16
    others = [_number_text(pair[also]) for pair in pairs] if also else [""] * len(pairs)
    if any(cell_len(a) + cell_len(b) + width > console.width for a, b in names):
        if titles:
            beside = f" and {also} below it" if also else ""
            console.print(f"{score}{beside}  {titles[0]}, and below it {titles[1]}\n")
        for score_text, other, (a, b) in zip(scores, others, names, strict=True):
            console.print(Text(f"{score_text:>7}  {a}\n{other:>7}  {b}"), soft_wrap=True)
        return
    columns = [f"{score}>", f"{also}>"] if also else [f"{score}>"]
    rows = simple_table(*columns, *(titles or fields))
    for score_text, other, (a, b) in zip(scores, others, names, strict=True):
        rows.add_row(*([score_text, other] if also else [score_text]), Text(a), Text(b))
    console.print(rows)


def curve_table(columns: Sequence[str], rows: Iterable[Sequence[float]]) -> Table:
    """Make the table of a curve: similarities, chances, that of a miss last, and a bar."""
    table = simple_table("similarity>", *(f"{name}>" for name in columns), "")
    for similarity, *chances, missed in rows:
        digits = f"{missed:.6f}" if missed >= 1e-6 or missed == 0 else f"{missed:.1e}"
        bar = "#" * round(chances[-1] * BAR_WIDTH)
        table.add_row(f"{similarity:g}", *(f"{chance:.4f}" for chance in chances), digits, bar)
    return table


def show_half(console: Console, plan: Plan) -> None:
    """Say where the curve of candidates rises."""
    estimate = plan.rule_of_thumb
    means = "(1/b)^(1/r), of bits that agree," if plan.metric == "cosine" else "(1/b)^(1/r)"
    rule = f"; the rule of thumb {means} says {estimate:.4f}" if estimate is not None else ""
    console.print(f"\nA pair at {plan.half:.4f} is a candidate with a chance of one half{rule}.")


def show_plan(console: Console, plan: Plan) -> None:
    """Show a plan as a sentence and a small table."""
    console.print(f"Plan: {plan.sentence()}")
    show_curve(console, plan)


def show_curve(console: Console, plan: Plan) -> None:
    """Show what becomes of pairs of each similarity, where that is a matter of chance."""
    if plan.cascade is not None and plan.documents > 1 and plan.distance is None:
        console.print()
        console.print(curve_table(("candidate", "found", "missed"), plan.table()))
        show_half(console, plan)
        console.print()


def announce_compiling(console: Console) -> None:
    """Say when the first run compiles, so that nobody takes it for the usual time."""
    compiling.listen(lambda message: console.print(visible(message), soft_wrap=True))


@contextmanager
def progress(console: Console) -> Iterator[Progress | None]:
    """Tell how far each stage is: a live bar on a terminal, else a line every few seconds."""
    if console.quiet:
        yield None
    elif console.is_terminal:
        with _bars(console) as report:
            yield report
    else:
        yield _Lines(console)


@contextmanager
def _bars(console: Console) -> Iterator[Progress]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description:>8}"),
        BarColumn(BAR_WIDTH),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        console=console,
        transient=True,
    )
    tasks: dict[str, Any] = {}
    clocks: dict[str, Pace] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total, rate="")
            clocks[stage] = Pace(stage, done)
        rate = clocks[stage].text(done, total)
        bars.update(tasks[stage], completed=done, total=total, rate=rate)

    with bars:
        yield report


class _Lines:
    """A plain line every few seconds; a job that is done sooner prints none."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = time.monotonic()
        self._pace: Pace | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._pace is None or self._pace.stage != stage:
            self._pace = Pace(stage, done)
        now = time.monotonic()
        if done and now - self._last >= PROGRESS_SECONDS:
            self._last = now
            share = f"{done / total:.0%}" if total else "done"
            self._console.print(f"{stage}: {share}, {self._pace.text(done, total)}")


class Pace:
    """How fast a stage goes, and how long it has to go."""

    def __init__(self, stage: str, done: int) -> None:
        """Begin to count; what a job that is taken up finds done does not count."""
        self.stage = stage
        self._begin = time.monotonic()
        self._found = done

    def text(self, done: int, total: int) -> str:
        """Say how much is done, the rate and the time left."""
        seconds = time.monotonic() - self._begin
        rate = (done - self._found) / seconds if seconds > 0 else 0.0
        if self.stage == "read":
            parts = [f"{size(done)} of {size(total)}", f"{size(rate)}/s"]
        else:
            parts = [f"{done:,} of {total:,}", f"{rate:,.0f}/s"]
        if rate > 0 and done < total:
            parts.append(f"{duration((total - done) / rate)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Write a time: `9 s`, `2 min 5 s`, `3 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_STOPPED_LINE = ["stopped; every file is whole or untouched"]


def say_if_stopped(line: str) -> None:
    """Set what is said after Ctrl-C."""
    _STOPPED_LINE[0] = line


def stopped() -> str:
    """Give what is said after Ctrl-C."""
    return _STOPPED_LINE[0]
