"""`dedup` on frames: which documents stay, and which kept one each other names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.spark.centres import thinned_by_centres
from lookalike.spark.columns import column_named
from lookalike.spark.numbering import numbered
from lookalike.spark.result import SparkResult
from lookalike.spark.thinning import (
    named_at_once,
    nearest_kept,
    oriented,
    settles_at_once,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkDedupResult"]

ANNOTATIONS = ("cluster", "cluster_size", "kept", "similarity")
SOURCE = "source"
OWN = "_lookalike_"
"""What names of columns begin with that are joined to those of a user."""


@dataclass(frozen=True)
class SparkDedupResult(SparkResult):
    """The rows that stay, and what was removed, as frames."""

    @cached_property
    def counts(self) -> dict[str, int]:
        """The documents: kept, removed and empty ones make up those that were read."""
        gone = self.removed.count()
        counts = dict(self.job.counts)
        kept = counts["read"] - counts["empty"] - gone
        return counts | {"kept": kept, "removed": gone}

    @cached_property
    def removed(self) -> DataFrame:
        """id, kept, similarity, kept_in: each removed document and the kept one it names."""
        job = self.job
        documents = job.documents.filled
        named = self._named()
        if job.counts["identical"]:
            first = F.col("place.id").alias("first")
            every = documents.join(job.documents.nodes.select("node", first), "node")
            every = every.join(named, "node", "left")
            found = every.where(F.col("kept_id").isNotNull() | (F.col("id") != F.col("first")))
            kept = F.coalesce("kept_id", "first")
        else:
            found, kept = documents.join(named, "node"), F.col("kept_id")
        return job.frames.keep(
            found.select(
                "id",
                kept.alias("kept"),
                F.coalesce("similarity", F.lit(1.0)).alias("similarity"),
                F.lit(SOURCE).alias("kept_in"),
            )
        )

    def _named(self) -> DataFrame:
        """Give the contents that go, and the kept one of each: node, kept_id, similarity."""
        job = self.job
        nodes = job.documents.nodes
        edges = oriented(job.links, job.documents)
        if job.large is None and settles_at_once(job.counts["links"]):
            return named_at_once(edges, job.documents.source.ids.type_name)
        edges, gone = thinned_by_centres(job, job.frames.keep(edges), self.max_rounds)
        named = nearest_kept(edges, job.frames.keep(gone))
        kept = nodes.select(F.col("node").alias("kept"), F.col("place.id").alias("kept_id"))
        return named.join(kept, "kept").select("node", "kept_id", "similarity")

    @cached_property
    def kept(self) -> DataFrame:
        """The rows that stay, with all their columns; empty documents among them."""
        source = self.job.documents.source
        gone = self.removed.select(F.col("id").alias(f"{OWN}id"))
        return source.frame.join(gone, source.id == F.col(f"{OWN}id"), "left_anti")

    @cached_property
    def clusters(self) -> DataFrame:
        """The kept documents that others name, and those; in no order.

        The columns are id, cluster, size, similarity, kept and corpus. The similarity is that with
        the kept one of the cluster.
        """
        gone = self.removed
        kept = gone.select(
            F.col("kept").alias("id"),
            F.col("kept").alias("label"),
            F.lit(1.0).alias("similarity"),
            F.lit(True).alias("kept"),
        ).distinct()
        others = gone.select(
            "id", F.col("kept").alias("label"), "similarity", F.lit(False).alias("kept")
        )
        documents = self.job.documents
        members = kept.unionByName(others)
        members = members.withColumn("copies", F.lit(1).cast("bigint"))
        found = numbered(members, documents.read, documents.source.ids, self.job.frames)
        return found.select(
            "id", "cluster", "size", "similarity", "kept", F.lit(SOURCE).alias("corpus")
        )

    @cached_property
    def annotated(self) -> DataFrame:
        """All rows, with the columns cluster, cluster_size, kept and similarity added."""
        source = self.job.documents.source
        for name in ANNOTATIONS:
            if name in source.frame.columns:
                raise SourceError(
                    f"there is a column {quoted(name)} already, and annotating adds one: rename it"
                )
        names = {"id", "cluster", "size", "similarity", "kept"}
        marked = self.clusters.select(*(F.col(name).alias(OWN + name) for name in sorted(names)))
        joined = source.frame.join(marked, source.id == F.col(f"{OWN}id"), "left")
        stays = F.coalesce(f"{OWN}kept", F.lit(True))
        return joined.select(
            *map(column_named, source.frame.columns),
            F.col(f"{OWN}cluster").alias("cluster"),
            F.coalesce(f"{OWN}size", F.lit(1)).alias("cluster_size"),
            stays.alias("kept"),
            F.when(~stays, F.col(f"{OWN}similarity")).alias("similarity"),
        )
