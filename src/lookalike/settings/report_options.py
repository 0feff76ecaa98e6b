"""The options of reports, declared once as those of other commands are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.options import option

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["Labelled", "ReportOptions", "Reported"]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Reported:
    """Where a page on the result is written."""

    report: str | os.PathLike[str] | None = option(
        None,
        "Write a page on the result too, one HTML file that opens from disk.",
        metavar="FILE",
        is_path=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Labelled:
    """What a page says of documents beside their names, or instead of them."""

    label: str | None = option(
        None,
        "Colour documents in the page by this column; folder is the first folder of a file's path.",
        metavar="COLUMN",
    )
    date: str | None = option(
        None,
        "Order documents in the page by this column of dates: the older is the likely source.",
        metavar="COLUMN",
    )
    anonymise: bool = option(
        False,
        "Replace ids and labels in the page by neutral names; the key is written beside it, as "
        "FILE.key.json.",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PageBounds:
    """How much a page has."""

    most_pairs: int = option(100_000, "Pairs that are listed at the most, the most similar first.")
    most_texts: int = option(
        2_000, "Texts in the page at the most: of the most similar pairs and the largest clusters."
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class PageFile:
    """Where a page is written, and on what."""

    out: str | os.PathLike[str] | None = option(
        None,
        "Write the page here, one HTML file; replaces a file.",
        metavar="FILE",
        short="-o",
        is_path=True,
    )
    texts: Any = option(
        None,
        "Where the documents are now, if they were moved: one name for each source of the result.",
        metavar="SOURCE",
        is_path=True,
        is_list=True,
    )
    names: Any = option(
        None, "Of a comparison: what the two documents are called.", python_only=True
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Followed:
    """Who hears how far a page is."""

    progress: Callable[[str, int, int], None] | bool | None = option(
        None,
        "Called with the stage, how much of it is done, and how much there is; of read these are "
        "bytes. True shows it on standard error, in a notebook below the cell.",
        python_only=True,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReportOptions(Followed, PageBounds, Labelled, PageFile):
    """Options of `report`."""
