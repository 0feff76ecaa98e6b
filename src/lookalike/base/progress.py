"""How far a job is, on a screen: a live bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lookalike.base.memory import size
from lookalike.base.notebooks import Line, in_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    Progress = Callable[[str, int, int], None]

__all__ = ["Pace", "asked_for", "duration", "shown"]

BAR_WIDTH = 24
BYTE_STAGES = ("read", "add", "query")
"""Of these, what is done is told in bytes; `read (texts)` is one of them."""
PROGRESS_SECONDS = 5.0
"""Seconds between two lines of progress where there is no terminal."""


NOTEBOOK_SECONDS = 0.2
"""Seconds between two updates of the line in a notebook."""


@contextmanager
def asked_for(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Give who is told of the progress: as it was given, nobody, or with True a screen.

    In a notebook that is a line below the cell.
    """
    if progress is not True:
        yield progress or None
        return
    if in_notebook():
        with _notebook_line() as report:
            yield report
        return
    from rich.console import Console

    with shown(Console(stderr=True, markup=False, emoji=False, highlight=False)) as report:
        yield report


@contextmanager
def shown(console: Console) -> Iterator[Progress | None]:
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


@contextmanager
def _notebook_line() -> Iterator[Progress]:
    """Tell it in one line below the cell, which each report replaces, and in the end its time."""
    line, begin = Line(), time.monotonic()
    paces: dict[str, Pace] = {}
    last = begin - NOTEBOOK_SECONDS

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        pace = paces.setdefault(stage, Pace(stage, done))
        now = time.monotonic()
        if now - last >= NOTEBOOK_SECONDS:
            last = now
            share = f"{done / total:.0%}" if total else "done"
            line.show(f"{stage}: {share}, {pace.text(done, total)}")

    yield report
    if paces:
        stages = dict.fromkeys(stage.partition(" (")[0] for stage in paces)
        line.show(f"{', '.join(stages)}: done in {duration(time.monotonic() - begin)}")


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
        if self.stage.partition(" ")[0] in BYTE_STAGES:
            parts = [f"{size(done)} of {size(total)}", *_rate(rate, 1000, size)]
        else:
            parts = [f"{done:,} of {total:,}", *_rate(rate, 1, "{:,.0f}".format)]
        if rate > 0 and done < total:
            parts.append(f"{duration((total - done) / rate)} left")
        return ", ".join(parts)


def _rate(rate: float, least: float, written: Callable[[float], str]) -> list[str]:
    """Write a rate a second, or a minute where that is less than the least that shows."""
    if rate >= least:
        return [f"{written(rate)}/s"]
    return [f"{written(60 * rate)}/min"] if 60 * rate >= least else []


def duration(seconds: float) -> str:
    """Write a time: `9 s`, `2 min 5 s`, `3 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
