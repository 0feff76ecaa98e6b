"""`find` on frames: similar pairs and clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.hamming import BITS
from lookalike.cluster.components import COMPARED_MEMBERS
from lookalike.spark.buckets import split_cells
from lookalike.spark.components import components
from lookalike.spark.numbering import numbered
from lookalike.spark.scoring import smallest_similarities

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe
    from lookalike.settings import Settings
    from lookalike.spark.job import SparkJob

__all__ = ["SparkFindResult"]


@dataclass(frozen=True)
class SparkFindResult:
    """Similar pairs and clusters as frames, with the plan and the recipe that found them."""

    job: SparkJob
    max_rounds: int | None = None

    @property
    def plan(self) -> Plan:
        """Bands, rows, and how surely they find a pair."""
        return self.job.plan

    @property
    def recipe(self) -> Recipe:
        """How documents became keys and scores."""
        return self.job.recipe

    @property
    def settings(self) -> Settings:
        """The settings that ran."""
        return self.job.resolved()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before trusting the result."""
        return tuple(self.job.choice.chosen.warnings)

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
        labels = job.frames.keep(components(job.links, job.frames, self.max_rounds))
        smallest = _smallest(job, labels)
        documents = job.documents.documents.where("bytes > 0").select("id", "node")
        with_copies = job.documents.nodes.where("copies > 1").select("node")
        alone = with_copies.join(labels, "node", "left_anti")
        every = labels.unionByName(alone.withColumn("component", F.col("node")))
        members = documents.join(every, "node").select("id", F.col("component").alias("label"))
        found = numbered(members, job.documents.source.ids, job.frames, few=job.few_clusters)
        similar = found.join(smallest.withColumnRenamed("component", "label"), "label", "left")
        similarity = F.coalesce("similarity", F.lit(1.0)).alias("similarity")
        return similar.select("id", "cluster", "size", similarity)

    def release(self) -> None:
        """Let go of what is kept on the workers; frames that were not read yet are made anew."""
        self.job.frames.release()


def _end(documents: DataFrame, end: str, name: str) -> DataFrame:
    return documents.select(F.col("node").alias(end), F.col("id").alias(name))


def _copies(documents: DataFrame, job: SparkJob) -> DataFrame | None:
    """Give the pairs of identical documents, each once, a block of copies against another."""
    if not job.counts["identical"]:
        return None
    copied = documents.join(job.documents.nodes.where("copies > 1").select("node"), "node")
    place = F.row_number().over(Window.partitionBy("node").orderBy("id")) - 1
    cells = split_cells(copied.withColumn("place", place), ["node"], "place")
    keys = ["node", "left", "right"]
    first = cells.where("block = left").select(
        *keys, F.col("id").alias("first"), F.col("place").alias("p")
    )
    second = cells.where("block = right").select(
        *keys, F.col("id").alias("second"), F.col("place").alias("q")
    )
    pairs = first.join(second, keys).where("p < q")
    return pairs.select(
        "first", "second", F.lit(1.0).alias("similarity"), F.lit("exact").alias("score")
    )


def _smallest(job: SparkJob, labels: DataFrame) -> DataFrame:
    """Give the smallest similarity of two members of each component: component, similarity.

    Where every two are linked, the links tell; else members are compared, those with the smallest
    fingerprints where they are many.
    """
    linked = (
        job.links.join(labels.withColumnRenamed("node", "a"), "a")
        .groupBy("component")
        .agg(F.count("*").alias("links"), F.min("similarity").alias("similarity"))
    )
    sizes = labels.groupBy("component").agg(F.count("*").alias("members"))
    known = job.frames.keep(linked.join(sizes, "component"))
    loose = known.where("links < members * (members - 1) / 2")
    count = loose.agg(F.sum(F.least("members", F.lit(COMPARED_MEMBERS)))).toArrow()[0][0].as_py()
    if not count:
        return known.select("component", "similarity")
    place = F.row_number().over(Window.partitionBy("component").orderBy("node"))
    members = labels.join(loose.select("component"), "component").withColumn("place", place)
    chosen = members.where(F.col("place") <= COMPARED_MEMBERS).select("component", "node")
    compared = smallest_similarities(chosen, job.content, count)
    both = known.select("component", "similarity").unionByName(compared)
    return both.groupBy("component").agg(F.min("similarity").alias("similarity"))
