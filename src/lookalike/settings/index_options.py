"""The options of an index, and of the commands on one; loaded only where there is an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lookalike.base.options import option
from lookalike.settings.options import (
    Cleaned,
    FromFiles,
    Measured,
    Normalised,
    Resources,
    Seeded,
    Shingled,
    Similar,
    TextField,
    VectorField,
    Weighted,
)

__all__ = [
    "IndexAddOptions",
    "IndexCreateOptions",
    "IndexQueryOptions",
]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Planned:
    """What an index is planned by."""

    like: Any = option(
        None,
        "A sample of what will come, by which the shingle, bands and rows are chosen. May be given "
        "several times.",
        metavar="SOURCE",
        is_list=True,
    )
    documents: int = option(1_000_000, "How many documents are planned for.", short="-n")
    dimension: int | None = option(
        None, "For vectors without a sample: how many numbers a vector has.", example=384
    )
    bands: int | None = option(None, "Bands, instead of a plan; with the rows of each.", example=20)
    rows: int | None = option(None, "Rows of a band, instead of a plan; with the bands.", example=5)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class WithoutText:
    """Whether documents themselves are kept."""

    no_text: bool = option(
        False, "Keep no texts, sketches alone: a third of the room, and scores are estimated."
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Described:
    """What is kept of a document beside its text."""

    metadata: Any = option(
        None,
        "Column of the source that is kept with each document. May be given several times.",
        metavar="COLUMN",
        is_list=True,
    )
    new_only: bool = option(
        False, "Add only documents that are similar to none in the index, nor to one before them."
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Found:
    """What is given of the documents that are similar to one."""

    threshold: float | None = option(
        None,
        "Similarity from which on documents are given; by default that of the index.",
        short="-t",
        is_share=True,
        example=0.9,
    )
    top: int | None = option(
        None, "Give at most so many for each document, the most similar.", example=10
    )
    where: str | None = option(
        None,
        "Give only those whose metadata meets this, as \"source = 'web' and year >= 2020\".",
        metavar="CONDITION",
    )
    containment: bool = option(
        False, "Give too which share of each document's shingles the other has."
    )


# Of several bases, the fields of the last come first.


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Read(Resources, FromFiles, VectorField, TextField):
    """How a source is read, and what that may use."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IndexCreateOptions(
    Read,
    Seeded,
    Normalised,
    Cleaned,
    Weighted,
    Measured,
    WithoutText,
    Planned,
    Shingled,
    Similar,
):
    """Options of `Index.create`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IndexAddOptions(Read, Described):
    """Options of `Index.add_all`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IndexQueryOptions(Read, Found):
    """Options of `Index.query_all`."""
