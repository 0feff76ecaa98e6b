"""The options of `lookalike.spark`, and what commands take to run there.

They are those of the local engine that frames have a use for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.base.options import option
from lookalike.settings.commands import DedupOptions, FindOptions
from lookalike.settings.options import (
    Banded,
    Cleaned,
    Estimated,
    Grouped,
    Measured,
    Normalised,
    Ruled,
    Seeded,
    Shingled,
    Similar,
    TextField,
    VectorField,
    Weighted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "DedupCommandOptions",
    "FindCommandOptions",
    "SparkDedupOptions",
    "SparkFindOptions",
]

ENGINES = ("local", "spark")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class OnFrames:
    """What a job on Spark takes beside."""

    id: str | None = option(None, "Column that holds the id.", metavar="COLUMN")
    max_rounds: int | None = option(
        None,
        "Rounds of joining clusters, or of choosing what stays, after which one task does the "
        "rest; the answer is the same.",
        metavar="N",
        example=10,
    )
    progress: Callable[[str, int, int], None] | None = option(
        None,
        "Called with the stage, how much of it is done, and how much there is.",
        python_only=True,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class KeepingRows:
    """Which of similar rows stays."""

    keep: str = option(
        "first",
        "Which of similar documents stays: first, last, longest, shortest, max:COLUMN or "
        "min:COLUMN.",
        metavar="POLICY",
    )
    order: str | None = option(
        None, "Column that says which row comes first; by default the id does.", metavar="COLUMN"
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SparkFindOptions(
    OnFrames,
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
):
    """Options of `spark.find`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SparkDedupOptions(
    OnFrames,
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
    KeepingRows,
):
    """Options of `spark.dedup` and `spark.annotate`."""


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class OnSpark:
    """What does the work of a command."""

    engine: str = option(
        "local",
        "What does the work: this process, or Apache Spark, which reads and writes Parquet, JSONL "
        "and CSV where it can (s3a://, hdfs://); needs lookalike[spark].",
        choices=ENGINES,
    )
    master: str | None = option(
        None,
        "With Spark: where it runs, as local[4], spark://HOST:PORT, yarn, k8s://HOST:PORT, or "
        "sc://HOST:PORT for a server of Spark Connect; by default as configured, or this machine.",
        metavar="URL",
    )
    spark_conf: Any = option(
        None,
        "With Spark: its configuration, as spark.executor.memory=8g. May be given several times.",
        metavar="NAME=VALUE",
        is_list=True,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FindCommandOptions(OnSpark, FindOptions):
    """Options of the command `find`."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DedupCommandOptions(OnSpark, DedupOptions):
    """Options of the command `dedup`."""
