"""Clusters numbered as on one machine: the largest first, then by their first ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import collected, mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from lookalike.spark.frames import Frames

__all__ = ["number_at_once", "numbered"]

PLACE_BITS = 33
"""The lower bits of Spark's own numbers of rows, which count within a partition."""
ONE_TASK_MEMBERS = 2_000_000
"""Members of clusters that one task sorts and numbers."""


def numbered(members: DataFrame, most: int, frames: Frames) -> DataFrame:
    """Give the members of clusters with the numbers and sizes of these: cluster, size.

    Of each member, of which there are at most so many, `label` names its cluster, `copies` is how
    many documents it stands for, and `first` sorts as the ids do. Other columns go through.
    """
    if most <= ONE_TASK_MEMBERS:
        kept = [field for field in members.schema.fields if field.name not in ("copies", "first")]
        columns = [f"{field.name} {field.dataType.simpleString()}" for field in kept]
        schema = ", ".join([*columns, "size bigint", "cluster bigint"])
        return mapped(members.repartition(1), number_at_once, schema)
    sizes = members.groupBy("label").agg(
        F.sum("copies").alias("size"), F.min("first").alias("first")
    )
    return members.drop("copies", "first").join(_numbers(sizes, frames), "label")


def number_at_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sort members by their ids, and number their clusters, all in one task."""
    held = [batch for batch in batches if len(batch)]
    if not held:
        return
    whole = pa.Table.from_batches(held).combine_chunks()
    keys = pa.concat_arrays(whole["first"].chunks).flatten()
    by_id = pa.table(keys, [str(i) for i in range(len(keys))])
    order = pc.sort_indices(by_id, sort_keys=[(name, "ascending") for name in by_id.column_names])
    whole = whole.drop_columns("first").take(order).combine_chunks()
    labels = pa.concat_arrays(whole["label"].chunks).dictionary_encode().indices.to_numpy()
    copies = whole["copies"].to_numpy()
    # Labels are counted as they come, which is by their first ids.
    sizes = np.bincount(labels, copies).astype(np.int64)
    numbers = np.empty(len(sizes), np.int64)
    numbers[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
    found = whole.drop_columns("copies")
    found = found.append_column("size", pa.array(sizes[labels]))
    yield from found.append_column("cluster", pa.array(numbers[labels])).to_batches()


def _numbers(sizes: DataFrame, frames: Frames) -> DataFrame:
    """Give each cluster its number: label, size, cluster.

    Clusters are sorted over all partitions, and the number of one is its place in its partition and
    all clusters of the partitions before: the same however they fall into partitions.
    """
    ordered = sizes.orderBy(F.col("size").desc(), "first")
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
    return numbers.select("label", "size", (F.col("before") + within + 1).alias("cluster"))
