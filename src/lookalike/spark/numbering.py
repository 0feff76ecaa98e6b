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

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from lookalike.spark.columns import Ids
    from lookalike.spark.frames import Frames

__all__ = ["ONE_TASK_MEMBERS", "number_at_once", "numbered", "order_of_ids", "sizes_and_numbers"]

PLACE_BITS = 33
"""The lower bits of Spark's own numbers of rows, which count within a partition."""
ONE_TASK_MEMBERS = 2_000_000
"""Members of clusters that one task sorts and numbers."""


def numbered(members: DataFrame, most: int, ids: Ids, frames: Frames) -> DataFrame:
    """Give the members of clusters with the numbers and sizes of these: cluster, size.

    Of each member, of which there are at most so many, `label` names its cluster, `copies` is how
    many documents it stands for, and `id` is that of the first. Other columns go through.
    """
    if most <= ONE_TASK_MEMBERS:
        kept = [field for field in members.schema.fields if field.name != "copies"]
        columns = [f"{field.name} {field.dataType.simpleString()}" for field in kept]
        schema = ", ".join([*columns, "size bigint", "cluster bigint"])
        return mapped(members.repartition(1), number_at_once, schema, ids.counted)
    keys = (key.alias(f"k{i}") for i, key in enumerate(ids.keys()))
    sizes = members.groupBy("label").agg(
        F.sum("copies").alias("size"), F.min(F.struct(*keys)).alias("first")
    )
    return members.drop("copies").join(_numbers(sizes, frames), "label")


def number_at_once(counted: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Number the clusters of all members in one task."""
    held = [batch for batch in batches if len(batch)]
    if not held:
        return
    whole = pa.Table.from_batches(held).combine_chunks()
    labels, ids = (pa.concat_arrays(whole[name].chunks) for name in ("label", "id"))
    places = labels.dictionary_encode().indices.to_numpy().astype(np.int64)
    sizes, numbers = sizes_and_numbers(places, whole["copies"].to_numpy(), ids, counted=counted)
    found = whole.drop_columns("copies").append_column("size", pa.array(sizes))
    yield from found.append_column("cluster", pa.array(numbers)).to_batches()


def sizes_and_numbers(
    labels: NDArray[np.int64], copies: NDArray[np.int64], ids: pa.Array, *, counted: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give of each member the size and the number of its cluster, which a small label names."""
    order = order_of_ids(ids, counted=counted)
    first = np.full(int(labels.max()) + 1, len(labels), np.int64)
    np.minimum.at(first, labels[order], np.arange(len(labels)))
    sizes = np.bincount(labels, copies).astype(np.int64)
    numbers = np.empty(len(sizes), np.int64)
    # Labels that name none come last, and are not asked for.
    numbers[np.lexsort((first, -sizes))] = np.arange(1, len(sizes) + 1)
    return sizes[labels], numbers[labels]


def order_of_ids(ids: pa.Array, *, counted: bool) -> NDArray[np.int64]:
    """Give the order of ids, as `Ids.keys` sorts them."""
    if pa.types.is_integer(ids.type) and not ids.null_count:
        return np.argsort(ids.to_numpy(), kind="stable")
    columns = {"id": ids}
    if counted:
        digits = pc.utf8_ltrim(ids, "0")
        columns = {"length": pc.binary_length(digits), "digits": digits, "id": ids}
    ascending = [(name, "ascending") for name in columns]
    found: NDArray[np.int64] = pc.sort_indices(pa.table(columns), sort_keys=ascending).to_numpy()
    return found.astype(np.int64)


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
