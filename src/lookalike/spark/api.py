"""`find`, `dedup` and `annotate` of frames: what a user calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.options import takes
from lookalike.base.wording import setting
from lookalike.job.given import settings_from
from lookalike.settings import SparkDedupOptions, SparkFindOptions
from lookalike.spark.dedup_result import SparkDedupResult
from lookalike.spark.failures import clear_errors
from lookalike.spark.find_result import SparkFindResult
from lookalike.spark.frames import kept_plainly
from lookalike.spark.job import SparkJob
from lookalike.spark.preflight import check_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.settings import Settings

__all__ = ["annotate", "dedup", "find"]


@takes(SparkFindOptions)
def find(frame: DataFrame, options: SparkFindOptions) -> SparkFindResult:
    """Find the pairs of rows of a Spark frame whose similarity reaches the threshold.

    The answer is that of `lookalike.find` on the same documents. The frames of the result are in
    no order.
    """
    settings = _settings(options)
    with clear_errors(), kept_plainly(frame.sparkSession):
        check_workers(frame.sparkSession)
        job = SparkJob.run(frame, settings, columns=_columns(options), progress=options.progress)
    return SparkFindResult(job, options.max_rounds)


@takes(SparkDedupOptions)
def dedup(frame: DataFrame, options: SparkDedupOptions) -> SparkDedupResult:
    """Drop rows of a Spark frame that are similar to one that is kept.

    The answer is that of `lookalike.dedup` on the same documents, in the order of the column
    `order`, or else of their ids.
    """
    settings = _settings(options)
    with clear_errors(), kept_plainly(frame.sparkSession):
        check_workers(frame.sparkSession)
        job = SparkJob.run(
            frame,
            settings,
            columns=_columns(options),
            keep=options.keep,
            order=options.order,
            pair_large=False,
            progress=options.progress,
        )
    return SparkDedupResult(job, options.max_rounds)


@takes(SparkDedupOptions)
def annotate(frame: DataFrame, options: SparkDedupOptions) -> DataFrame:
    """Give all rows, with the columns cluster, cluster_size, kept and similarity added.

    They say what `dedup` would do with each.
    """
    given = {name: getattr(options, name) for name in vars(options) if not name.startswith("_")}
    return dedup(frame, **given).annotated


def _columns(options: Any) -> dict[str, Any]:
    return {"text": options.text, "id": options.id, "vector": options.vector}


def _settings(options: Any) -> Settings:
    """Give the settings, after refusing what is not done on frames."""
    settings = settings_from(options)
    local = "the engine on one machine does it"
    for name, given, reason in (
        (
            "recall",
            settings.exact,
            "a distributed exact join fails on the shingles that many documents share",
        ),
        (
            "rule",
            settings.rule == "contained",
            "a distributed exact join fails on the shingles that many documents share",
        ),
        ("max_df", settings.max_df is not None, "it counts every shingle of the corpus"),
        ("weights", settings.weights == "tf-idf", "tf-idf counts every shingle of the corpus"),
        ("groups", settings.groups is not None, "groups are not kept apart on Spark"),
    ):
        if given:
            value = {"recall": 1, "rule": settings.rule, "weights": settings.weights}
            named = setting(name, value[name]) if name in value else setting(name)
            raise SettingsError(f"{named} is not for Spark, as {reason}: {local}")
    rounds = options.max_rounds
    if rounds is not None and (
        isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 0
    ):
        raise SettingsError(f"max_rounds is {rounds!r}: use a whole number from 0")
    return settings
