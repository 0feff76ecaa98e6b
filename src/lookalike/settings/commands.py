"""Which options each command has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.options import option
from lookalike.settings.options import (
    FORMATS,
    Across,
    Assumed,
    Banded,
    Cleaned,
    Clustered,
    Drawn,
    Encoded,
    Estimated,
    FromFiles,
    Grouped,
    Indexed,
    Inside,
    Keeping,
    Listed,
    MainText,
    MatrixFile,
    Measured,
    Normalised,
    Passages,
    Resources,
    Ruled,
    Seeded,
    Shingled,
    Similar,
    Taught,
    TextField,
    VectorField,
    Weighted,
    Working,
    Written,
    WrittenFolder,
)

if TYPE_CHECKING:
    import os
from lookalike.settings.report_options import Labelled, Reported, ReportOptions

__all__ = [
    "BoilerplateOptions",
    "CompareAllOptions",
    "CompareOptions",
    "ContainedOptions",
    "DedupOptions",
    "FindOptions",
    "LearnOptions",
    "LessonOptions",
    "MatrixLessonOptions",
    "PlanCommandOptions",
    "PlanCorpusOptions",
    "PlanOptions",
    "ReportOptions",
    "SketchFileOptions",
    "SketchOptions",
]

# Of several bases, the fields of the last come first. What a class is not asked for is not made:
# each method of a dataclass is compiled when this module loads.


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FindOptions(
    Resources,
    Working,
    Labelled,
    Reported,
    Clustered,
    Written,
    FromFiles,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Estimated,
    Weighted,
    Measured,
    Banded,
    Shingled,
    Similar,
    Grouped,
    Across,
):
    """Options of `find`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DedupOptions(
    Resources,
    Working,
    Labelled,
    Reported,
    FromFiles,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Weighted,
    Measured,
    Banded,
    Shingled,
    Similar,
    Ruled,
    Grouped,
    Indexed,
    Keeping,
    WrittenFolder,
):
    """Options of `dedup`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ContainedOptions(
    Resources,
    Working,
    Written,
    FromFiles,
    TextField,
    Normalised,
    Cleaned,
    Shingled,
    Grouped,
    Inside,
):
    """Options of `contained`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BoilerplateOptions(
    Resources,
    Working,
    Written,
    FromFiles,
    TextField,
    Normalised,
    Listed,
):
    """Options of `boilerplate`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SketchOptions(
    Resources,
    FromFiles,
    VectorField,
    TextField,
    Seeded,
    Normalised,
    Cleaned,
    Weighted,
    Shingled,
    Drawn,
):
    """Options of `sketch`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SketchFileOptions(SketchOptions):
    """Options of `write_sketches`."""

    format: str | None = option(
        None, "jsonl, csv or parquet; by default as the name ends.", choices=FORMATS[1:]
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareOptions(Encoded, Passages, MainText, Normalised, Weighted, Measured, Shingled):
    """Options of `compare`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CompareAllOptions(Encoded, MainText, Normalised, Weighted, Measured, Shingled):
    """Options of `compare_all`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanOptions(Measured, Banded, Assumed, Similar):
    """Options of `plan`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanCorpusOptions(
    Resources,
    FromFiles,
    VectorField,
    TextField,
    Normalised,
    Cleaned,
    Weighted,
    Measured,
    Banded,
    Shingled,
    Similar,
):
    """Options of `plan_corpus`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanCommandOptions(PlanCorpusOptions, Assumed):
    """Options of the command `plan`: of a corpus, or of what is assumed of one."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LessonOptions(Encoded, TextField, Taught):
    """Options of `lesson`."""

    id: str | None = option(
        None, "Field that holds the id; none for the place, as file:row.", metavar="COLUMN"
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MatrixLessonOptions:
    """Options of `matrix_lesson`."""

    hash: Any = option(
        None,
        "With a matrix: a hash function of rows, as '3x+1 mod 5'. May be given several times.",
        metavar="FUNCTION",
        is_list=True,
    )
    permutation: Any = option(
        None,
        "With a matrix: its rows in an order, as 4,3,1,2. May be given several times.",
        metavar="ROWS",
        is_list=True,
    )
    first_row: int | None = option(
        None,
        "With a matrix: rows are counted from 0 or 1; by default as they are named, or 1.",
        example=1,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LearnOptions(MatrixLessonOptions, MatrixFile, LessonOptions):
    """Options of the command `learn`: those of the one lesson, and those of the other."""

    out: str | os.PathLike[str] | None = option(
        None,
        "Write the lesson to an HTML page, on which it can be played with, instead of showing it.",
        metavar="FILE.html",
        short="-o",
        is_path=True,
    )
