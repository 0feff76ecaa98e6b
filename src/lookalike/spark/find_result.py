"""`find` on frames: similar pairs and clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.hamming import BITS
from lookalike.spark.at_once import clusters_at_once, lists_pairs, pairs_at_once, serves
from lookalike.spark.buckets import split_cells
from lookalike.spark.components import clusters
from lookalike.spark.frames import collected
from lookalike.spark.numbering import numbered
from lookalike.spark.pairing import BLOCK_ROWS
from lookalike.spark.result import SparkResult
from lookalike.spark.scoring import smallest_similarities

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lookalike.spark.job import SparkJob

__all__ = ["SparkFindResult"]


@dataclass(frozen=True)
class SparkFindResult(SparkResult):
    """Similar pairs and clusters as frames, with the plan and the recipe that found them."""

    @property
    def counts(self) -> dict[str, int]:
        """How many documents were read, were empty and identical, and how many pairs compared."""
        return dict(self.job.counts)

    @cached_property
    def pairs(self) -> DataFrame:
        """Every pair once: a, b, similarity, score; in no order.

        With simhash also `distance`, the bits in which the fingerprints differ.
        """
        job = self.job
        if lists_pairs(job):
            return self._with_distance(pairs_at_once(job, self._score()))
        links = job.links
        for end, name in (("a", "first"), ("b", "second")):
            links = _with_copies(links, end, name, self._copied)
        every = links.select("first", "second", "similarity", F.lit(self._score()).alias("score"))
        if self._copied is not None:
            every = every.unionByName(_pairs_of_copies(self._copied, job))
        ids = job.documents.source.ids
        swapped = F.struct(*ids.keys("first")) > F.struct(*ids.keys("second"))
        columns: list[Column] = [
            F.when(swapped, F.col("second")).otherwise(F.col("first")).alias("a"),
            F.when(swapped, F.col("first")).otherwise(F.col("second")).alias("b"),
            F.col("similarity"),
            F.col("score"),
        ]
        return self._with_distance(every.select(*columns))

    def _with_distance(self, pairs: DataFrame) -> DataFrame:
        if self.job.settings.simhash is None:
            return pairs
        bits = F.acos("similarity") / math.pi * BITS
        return pairs.withColumn("distance", F.rint(bits).cast("bigint"))

    def _score(self) -> str:
        return "estimated" if self.recipe.by_sketches else "exact"

    @cached_property
    def clusters(self) -> DataFrame:
        """The members of each cluster of two or more: id, cluster, size, similarity; in no order.

        Numbered from 1, the largest first, then by their first ids; the similarity is the smallest
        between two members (of at most 200).
        """
        job = self.job
        if serves(job):
            labels = found = job.frames.keep(clusters_at_once(job))
        else:
            count, identical = job.counts["links"], job.counts["identical"]
            labels = job.frames.keep(clusters(job.links, job.frames, self.max_rounds))
            members = _members(labels, job.documents.several if identical else None)
            most = min(2 * count + identical, job.documents.distinct)
            found = numbered(members, most, job.documents.source.ids, job.frames)
            found = found.withColumnRenamed("id", "node_id")
            found = _with_copies(found, "node", "id", self._copied)
        compared = _compared(job, labels)
        if compared is not None:
            found = found.join(compared, "label", "left")
            found = found.withColumn("similarity", F.least("similarity", "smallest"))
        return found.select("id", "cluster", "size", "similarity")

    @cached_property
    def _copied(self) -> DataFrame | None:
        """The documents that others are identical to: node, id; None where there are none."""
        job = self.job
        return job.frames.keep(job.documents.copied) if job.counts["identical"] else None


def _with_copies(rows: DataFrame, end: str, name: str, copied: DataFrame | None) -> DataFrame:
    """Give a row for each document of the content at one end, with its id in a new column.

    The id that is there already is that of the first of these documents.
    """
    first = F.col(f"{end}_id")
    if copied is None:
        return rows.withColumn(name, first)
    copies = copied.select(F.col("node").alias(end), F.col("id").alias("copy"))
    every = rows.join(copies, end, "left")
    return every.withColumn(name, F.coalesce("copy", first)).drop("copy")


def _members(labels: DataFrame, several: DataFrame | None) -> DataFrame:
    """Give the contents that are in clusters, those of copies alone among them.

    The columns are node, id, label, similarity, copies; the id is that of the first document.
    """
    if several is None:
        return labels.drop("compared").withColumn("copies", F.lit(1).cast("bigint"))
    joined = labels.join(several.withColumnRenamed("id", "first_id"), "node", "full")
    linked = F.col("label").isNotNull()
    return joined.select(
        "node",
        F.coalesce("id", "first_id").alias("id"),
        F.coalesce("label", "node").alias("label"),
        F.when(linked, F.col("similarity")).otherwise(1.0).alias("similarity"),
        F.coalesce("copies", F.lit(1)).alias("copies"),
    )


def _pairs_of_copies(copied: DataFrame, job: SparkJob) -> DataFrame:
    """Give the pairs of identical documents, each once.

    Where one content has very many copies, a block of copies meets another.
    """
    keys, place = ["node"], "id"
    if job.documents.most_copies > BLOCK_ROWS:
        keys, place = ["node", "left", "right"], "place"
        number = F.row_number().over(Window.partitionBy("node").orderBy("id")) - 1
        copied = split_cells(copied.withColumn("place", number), ["node"], "place")
    sides = []
    for side, block in (("first", "left"), ("second", "right")):
        rows = copied if place == "id" else copied.where(F.col("block") == F.col(block))
        sides.append(
            rows.select(*keys, F.col("id").alias(side), F.col(place).alias(f"{side}_place"))
        )
    pairs = sides[0].join(sides[1], keys).where("first_place < second_place")
    return pairs.select(
        "first", "second", F.lit(1.0).alias("similarity"), F.lit("exact").alias("score")
    )


def _compared(job: SparkJob, labels: DataFrame) -> DataFrame | None:
    """Give the smallest similarity of members where links do not tell it: label, smallest."""
    (found,) = collected(labels.agg(F.count_if("compared").alias("compared")))
    if not found["compared"]:
        return None
    members = labels.where("compared").select(F.col("label").alias("component"), "node")
    compared = smallest_similarities(members, job.content, found["compared"])
    return compared.select(F.col("component").alias("label"), F.col("similarity").alias("smallest"))
