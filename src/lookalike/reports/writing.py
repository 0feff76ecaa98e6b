"""Pages as files: of a result in memory or on disk, or of two documents that were compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lookalike.base.errors import SettingsError
from lookalike.base.option_types import check_path
from lookalike.base.wording import Message, count, setting
from lookalike.job.running import silent
from lookalike.reports import model
from lookalike.reports.building import build
from lookalike.reports.comparing import build_comparison
from lookalike.reports.names import Aliases
from lookalike.reports.render import render, render_pair
from lookalike.reports.sources import Sources
from lookalike.results import Result
from lookalike.results.result import first_of
from lookalike.results.unread import place_of_unread
from lookalike.score.comparison import Comparison
from lookalike.write.files import check_targets, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.job.running import Progress
    from lookalike.settings import ReportOptions

__all__ = ["Page", "write_page"]

KEY = ".key.json"
FILES = ("pairs.parquet", "clusters.parquet", "removed.jsonl")
"""The files of a result that a page may link to, where they are there."""


@dataclass(frozen=True)
class Page:
    """A page that was written."""

    path: Path
    size: int
    """In bytes."""
    pairs: int
    """Listed in it."""
    texts: int
    """In it."""
    left_out: tuple[str, ...]
    """What it does not show, a sentence each."""
    key: Path | None
    """The file that tells which name stands for what, of an anonymous page."""
    advice: Message | None = None
    """What to do about texts that were not found."""

    def lines(self) -> list[Message]:
        """Say what it has, what it leaves out, and where the key is, a line each."""
        held = f"{count(self.pairs, 'pair')}, {count(self.texts, 'text')}, {self.size / 1e6:.1f} MB"
        key = [] if self.key is None else [f"Key        {self.key} says which name stands for what"]
        left_out = [f"Left out   {sentence}" for sentence in self.left_out]
        advice = [] if self.advice is None else [f"Texts      {self.advice.raw}"]
        return [*map(Message, [f"Page       {self.path}: {held}", *left_out, *advice, *key])]


def write_page(
    result: Any,
    options: ReportOptions,
    progress: Progress | None = None,
    *,
    written_to: str | os.PathLike[str] | None = None,
) -> Page:
    """Write the page of a result, of the folder or file of one, or of a comparison.

    `progress` hears how far it is. `written_to` is where a result that is in memory was written
    too.
    """
    if options.out is None:
        raise SettingsError(f"name the file of the page by {setting('out')}, as report.html")
    path = Path(options.out)
    if isinstance(result, Comparison):
        check_targets([path], [])
        pair = _comparison(result, options)
        return _written(pair, render_pair(pair), path)
    if not isinstance(result, (Result, str, os.PathLike)):
        raise SettingsError(
            f"a report is of a result, or the folder or file of one, not of {type(result).__name__}"
        )
    opened = result if isinstance(result, Result) else Result.open(result)
    key = path.with_name(f"{path.stem}{KEY}") if options.anonymise else None
    sources = [Path(str(one[0])) for one in (*opened.run.sources, *opened.run.against)]
    like_it = [name for name in sources if name.name == path.name]
    targets = [path] if key is None else [path, key]
    # A source is where the job ran, or it was moved to here.
    check_targets(targets, [*like_it, *(Path(opened.run.folder, name) for name in like_it)])
    aliases = None if key is None else Aliases.of(key)
    place = written_to if isinstance(result, Result) else result
    documents = Sources.of(opened, _texts(options.texts, opened))
    report = build(
        opened,
        label=options.label,
        date=options.date,
        most_pairs=_most("most_pairs", options.most_pairs),
        most_texts=_most("most_texts", options.most_texts),
        aliases=aliases,
        sources=documents,
        progress=progress or silent,
    )
    if place is not None and aliases is None:
        report.main.summary.files = links_of(Path(place), path)
    if aliases is not None and key is not None:
        # First, so that there is no page whose names nobody can tell.
        aliases.write(key)
    advice = f"if they are somewhere else now, name that folder or file by {setting('texts')}"
    page = _written(report, render(report), path, key)
    return replace(page, advice=Message(advice)) if documents.can_be_named else page


def _texts(given: Any, result: Result) -> list[str] | None:
    """Read where the documents are now, if that was said."""
    if given is None or given == []:
        return None
    if result.documents is not None:
        raise SettingsError(
            f"{setting('texts')} is for a result on disk, and this one has its documents: leave it "
            "out"
        )
    names = [given] if isinstance(given, (str, os.PathLike)) else [*given]
    for name in names:
        check_path("texts", name)
    return [os.fspath(name) for name in names]


def _most(name: str, given: int) -> int:
    try:
        return first_of(given)
    except SettingsError:
        raise SettingsError(f"{setting(name, given)}: use a whole number from 0, as 1000") from None


def _comparison(found: Comparison, options: ReportOptions) -> model.Report:
    for name in ("texts", "label", "date", "anonymise"):
        if getattr(options, name):
            raise SettingsError(
                f"{setting(name)} is for a result, and this is a comparison of two documents: "
                "leave it out"
            )
    names: Sequence[Any] = options.names or ("a", "b")
    if isinstance(names, str) or len(names) != 2:  # noqa: PLR2004 - two were compared
        raise SettingsError("give two names, as ('draft', 'final')")
    return build_comparison(found, (str(names[0]), str(names[1])))


def _written(report: model.Report, page: str, path: Path, key: Path | None = None) -> Page:
    whole = page.encode()
    write_atomically(path, lambda stream: stream.write(whole))
    left_out = tuple(report.main.summary.left_out)
    return Page(path, len(whole), len(report.main.pairs.a), len(report.texts), left_out, key)


def links_of(result: Path, page: Path) -> list[model.Link]:
    """Give the files of a result that was written, as addresses relative to the page."""
    there = result.parent if result.is_file() and result.name == "run.json" else result
    files = [there / name for name in FILES] if there.is_dir() else [there]
    files.append(place_of_unread(there))
    beside = os.path.realpath(page.parent)
    return [
        model.Link(file.name, quote(Path(os.path.relpath(file.resolve(), beside)).as_posix()))
        for file in files
        if file.is_file()
    ]
