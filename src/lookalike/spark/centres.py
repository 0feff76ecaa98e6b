"""What stays where buckets are large, without all their pairs.

A million copies that differ a little make half a trillion pairs. Of each large bucket, the first
few documents in the order of preference are centres, which are compared with all after them. A
document that is a centre in each of its large buckets has met all before it that are not settled:
whether it stays is known, and what is similar to it goes. So buckets shrink from round to round,
until they are small and all their pairs are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.buckets import Slices, all_pairs, paired, unique_once
from lookalike.spark.frames import collected, mapped
from lookalike.spark.links import unpacked_links
from lookalike.spark.packing import PACKED, pack
from lookalike.spark.pair_packing import (
    CANDIDATES,
    PACKED_PAIRS,
    PAIRS,
    pack_pairs,
    unpack_pairs,
)
from lookalike.spark.pairing import BLOCK_ROWS, Limits, pair_with_centres
from lookalike.spark.placing import totals_of
from lookalike.spark.scoring import scored
from lookalike.spark.thinning import ONE_TASK_LINKS, oriented, removed, settle_partly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.spark.frames import Frames
    from lookalike.spark.job import SparkJob

__all__ = ["thinned_by_centres"]

CENTRES = 8
"""Documents of a large bucket that are compared with all others in a round."""
SHRINKING = 0.9
"""The share of rows that may be left after a round that is worth another."""
MOST_ROUNDS = 50
BUCKET = ("key", "band")


def thinned_by_centres(
    job: SparkJob, edges: DataFrame, max_rounds: int | None
) -> tuple[DataFrame, DataFrame]:
    """Give the links from kept documents to all that are similar, and the documents that go."""
    frames, nodes = job.frames, job.documents.nodes
    if job.large is None:
        return edges, removed(edges, frames, max_rounds)
    rows = job.large.drop("place").join(nodes.select("node", "place"), "node")
    rows = frames.keep(rows.join(rows.groupBy("node").agg(F.count("*").alias("buckets")), "node"))
    left, gone, before = rows, None, rows.count()
    for _ in range(MOST_ROUNDS):
        if not _is_crowded(left, Limits.without_crowds(BLOCK_ROWS, job.recipe)):
            break
        placed = _with_centres(left)
        found = _scored(job, _near(job, placed, among=True))
        edges = frames.checkpoint(edges.unionByName(found).distinct())
        settled = _settled(edges, placed, gone, frames)
        if settled is None:
            break
        stays, goes = settled
        gone = frames.checkpoint(goes if gone is None else gone.unionByName(goes).distinct())
        done = stays.unionByName(goes).distinct()
        left = frames.checkpoint(left.join(done, "node", "left_anti"))
        now = left.count()
        if now > SHRINKING * before:
            break
        before = now
    slices = Slices.of(before, job.recipe, frames)
    columns = left.select("band", "key", "node", "bytes", "check")
    packed = mapped(columns, pack, PACKED, slices.count)
    met = paired(packed, slices, job.recipe, frames)
    last = frames.keep(all_pairs(met, job.recipe, job.documents.distinct, frames))
    edges = frames.checkpoint(edges.unionByName(_scored(job, last)).distinct())
    undecided = edges
    if gone is not None:
        for end in ("first", "second"):
            undecided = undecided.join(gone.withColumnRenamed("node", end), end, "left_anti")
        # A kept one makes those similar to it go, which is known already.
    every = removed(frames.keep(undecided), frames, max_rounds)
    gone = frames.keep(every if gone is None else gone.unionByName(every).distinct())
    return _with_nearest(job, edges, rows, gone), gone


def _is_crowded(rows: DataFrame, limits: Limits) -> bool:
    """Tell whether a bucket is large, or buckets are so full that not all pairs should be made."""
    pairs = F.sum(F.col("n") * (F.col("n") - 1) / 2).alias("pairs")
    counted = rows.groupBy(*BUCKET).agg(F.count("*").alias("n"))
    (found,) = collected(counted.agg(F.max("n").alias("n"), F.sum("n").alias("rows"), pairs))
    return bool(found["rows"]) and (
        found["n"] > limits.rows or found["pairs"] > limits.pairs * found["rows"]
    )


def _with_centres(rows: DataFrame) -> DataFrame:
    """Tell the first documents of each bucket, in the order of preference."""
    place = F.row_number().over(Window.partitionBy(*BUCKET).orderBy("place"))
    return rows.withColumn("centre", place <= CENTRES)


def _near(job: SparkJob, rows: DataFrame, *, among: bool) -> DataFrame:
    """Give the near pairs of centres and those after them, each once, packed."""
    together = rows.repartition(*BUCKET).sortWithinPartitions(*BUCKET, "place")
    columns = together.select(*BUCKET, "node", "bytes", "check", "centre")
    slices = Slices.of(job.documents.distinct, job.recipe, job.frames)
    given = job.recipe.dump(), among, slices.of_pairs
    found = mapped(columns, pair_with_centres, PACKED_PAIRS, *given)
    return job.frames.keep(unique_once(found, slices))


def _scored(job: SparkJob, pairs: DataFrame) -> DataFrame:
    totals = totals_of(pairs)
    links = job.frames.keep(scored(pairs, totals, job.content, job.frames))
    return oriented(unpacked_links(links, job.documents.source.ids), job.documents)


def _settled(
    edges: DataFrame, placed: DataFrame, gone: DataFrame | None, frames: Frames
) -> tuple[DataFrame, DataFrame] | None:
    """Give the documents of large buckets that stay, and those that go; None if links are many."""
    if gone is not None:
        for end in ("first", "second"):
            edges = edges.join(gone.withColumnRenamed("node", end), end, "left_anti")
    centred = placed.where("centre").groupBy("node", "buckets").agg(F.count("*").alias("n"))
    ready = centred.where("n = buckets").select("node")
    waiting = placed.select("node").distinct().join(ready, "node", "left_anti")
    asked = edges.select("first", "second", "second_place")
    for end in ("first", "second"):
        names = F.col("node").alias(end), F.lit(True).alias(f"{end}_open")
        asked = asked.join(waiting.select(*names), end, "left")
        asked = asked.withColumn(f"{end}_open", F.coalesce(f"{end}_open", F.lit(False)))
    if asked.count() > 4 * ONE_TASK_LINKS:
        return None
    ordered = asked.repartition(1).sortWithinPartitions("second_place").drop("second_place")
    fates = frames.keep(mapped(ordered, settle_partly, "node binary, goes boolean"))
    stays = ready.join(fates.select("node"), "node", "left_anti")
    return stays, fates.where("goes").select("node")


def _with_nearest(job: SparkJob, edges: DataFrame, rows: DataFrame, gone: DataFrame) -> DataFrame:
    """Compare what goes with all kept ones before it in its large buckets: one may be nearer."""
    marked = rows.join(gone.withColumn("goes", F.lit(True)), "node", "left")
    placed = marked.withColumn("centre", F.col("goes").isNull())
    near = _near(job, placed, among=False)
    known = edges.select(
        F.least("first", "second").alias("a"), F.greatest("first", "second").alias("b")
    )
    fresh = mapped(near, unpack_pairs, PAIRS).join(known, ["a", "b"], "left_anti")
    packed = job.frames.keep(mapped(fresh, pack_pairs, CANDIDATES))
    return edges.unionByName(_scored(job, packed)).distinct()
