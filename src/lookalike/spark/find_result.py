"""`find` on frames: similar pairs and clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.hamming import BITS
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
        documents = job.documents.documents.where("bytes > 0").select("id", "node")
        between = (
            job.links.join(_end(documents, "a", "first"), "a")
            .join(_end(documents, "b", "second"), "b")
            .select("first", "second", "similarity", F.lit(self._score()).alias("score"))
        )
        copies = _copies(documents, job)
        every = between if copies is None else between.unionByName(copies)
        ids = job.documents.source.ids
        swapped = F.struct(*ids.keys("first")) > F.struct(*ids.keys("second"))
        columns: list[Column] = [
            F.when(swapped, F.col("second")).otherwise(F.col("first")).alias("a"),
            F.when(swapped, F.col("first")).otherwise(F.col("second")).alias("b"),
            F.col("similarity"),
            F.col("score"),
        ]
        if self.job.settings.simhash is not None:
            bits = F.acos("similarity") / math.pi * BITS
            columns.append(F.rint(bits).cast("bigint").alias("distance"))
        return every.select(*columns)

    def _score(self) -> str:
        return "estimated" if self.recipe.by_sketches else "exact"

    @cached_property
    def clusters(self) -> DataFrame:
        """The members of each cluster of two or more: id, cluster, size, similarity; in no order.

        Numbered from 1, the largest first, then by their first ids; the similarity is the smallest
        between two members (of at most 200).
        """
        job = self.job
        labels = clusters(job.links, job.counts["links"], job.frames, self.max_rounds)
        labels = job.frames.keep(labels)
        compared = _compared(job, labels)
        linked = F.col("component").isNotNull()
        members = (
            job.documents.nodes.join(labels, "node", "left").where(linked | (F.col("copies") > 1))
            .select(
                "node",
                F.coalesce("component", "node").alias("label"),
                F.when(linked, F.col("similarity")).otherwise(1.0).alias("similarity"),
                "copies",
                F.col("place").alias("first"),
            )
        )  # fmt: skip
        most = min(2 * job.counts["links"] + job.counts["identical"], job.choice.distinct)
        found = numbered(members, most, job.frames)
        if compared is not None:
            found = found.join(compared, "label", "left")
            found = found.withColumn("similarity", F.coalesce("similarity", "smallest"))
        documents = job.documents.documents.where("bytes > 0").select("id", "node")
        return documents.join(found, "node").select("id", "cluster", "size", "similarity")


def _end(documents: DataFrame, end: str, name: str) -> DataFrame:
    return documents.select(F.col("node").alias(end), F.col("id").alias(name))


def _copies(documents: DataFrame, job: SparkJob) -> DataFrame | None:
    """Give the pairs of identical documents, each once.

    Where one content has very many copies, a block of copies meets another.
    """
    if not job.counts["identical"]:
        return None
    copied = documents.join(job.documents.nodes.where("copies > 1").select("node"), "node")
    keys, place = ["node"], "id"
    if job.choice.most_copies > BLOCK_ROWS:
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
    """Give the smallest similarity of two members where links do not tell it: label, smallest."""
    (found,) = collected(labels.agg(F.count_if("compared").alias("compared")))
    if not found["compared"]:
        return None
    members = labels.where("compared").select("component", "node")
    compared = smallest_similarities(members, job.content, found["compared"])
    return compared.select(F.col("component").alias("label"), F.col("similarity").alias("smallest"))
