"""Clusters numbered as on one machine: the largest first, then by their first ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.spark.columns import Ids
    from lookalike.spark.frames import Frames

__all__ = ["numbered"]

PLACE_BITS = 33
"""The lower bits of Spark's own numbers of rows, which count within a partition."""


def numbered(members: DataFrame, ids: Ids, frames: Frames, *, few: bool) -> DataFrame:
    """Give each member of a cluster of two or more its number and size: members, cluster, size.

    The clusters are those of equal labels. They are sorted over all partitions, and the number of
    one is its place in its partition and all clusters of the partitions before: the same however
    they fall into partitions. A few are sorted in one.
    """
    first = F.min(F.struct(*(key.alias(f"k{i}") for i, key in enumerate(ids.keys()))))
    sizes = members.groupBy("label").agg(F.count("*").alias("size"), first.alias("first"))
    order = F.col("size").desc(), F.col("first")
    large = sizes.where("size > 1")
    if few:
        one = large.repartition(1).sortWithinPartitions(*order)
        number = F.monotonically_increasing_id() + 1
        return members.join(one.select("label", "size", number.alias("cluster")), "label")
    ordered = large.orderBy(*order)
    placed = frames.checkpoint(
        ordered.select("label", "size", F.monotonically_increasing_id().alias("row"))
    )
    part = F.shiftrightunsigned("row", PLACE_BITS)
    counted = collected(placed.groupBy(part.alias("part")).agg(F.count("*").alias("n")))
    counted.sort(key=lambda row: row["part"])
    before = np.cumsum([0, *(row["n"] for row in counted)])[: len(counted)]
    table = pa.table(
        {
            "part": pa.array([row["part"] for row in counted], pa.int64()),
            "before": pa.array(before.astype(np.int64)),
        }
    )
    offsets = frames.of_table(table, "part bigint, before bigint")
    within = F.col("row").bitwiseAND((1 << PLACE_BITS) - 1)
    numbers = placed.withColumn("part", part).join(F.broadcast(offsets), "part")
    clusters = numbers.select("label", (F.col("before") + within + 1).alias("cluster"), "size")
    return members.join(clusters, "label")
