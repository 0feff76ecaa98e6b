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
from lookalike.spark.thinning import nearest_kept, oriented

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.planning.plan import Plan
    from lookalike.recipe import Recipe
    from lookalike.settings import Settings
    from lookalike.spark.job import SparkJob

__all__ = ["SparkDedupResult"]

ANNOTATIONS = ("cluster", "cluster_size", "kept", "similarity")
SOURCE = "source"
OWN = "_lookalike_"
"""What names of columns begin with that are joined to those of a user."""


@dataclass(frozen=True)
class SparkDedupResult:
    """The rows that stay, and what was removed, as frames."""

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
        nodes = job.documents.nodes
        named = self._named()
        place = nodes.select("node", F.col("place.id").alias("first"))
        kept = nodes.select(F.col("node").alias("kept"), F.col("place.id").alias("kept_id"))
        documents = job.documents.documents.where("bytes > 0").select("id", "node")
        every = documents.join(place, "node").join(
            named.join(kept, "kept").drop("kept"), "node", "left"
        )
        goes = F.col("kept_id").isNotNull() | (F.col("id") != F.col("first"))
        found = every.where(goes).select(
            "id",
            F.coalesce("kept_id", "first").alias("kept"),
            F.coalesce("similarity", F.lit(1.0)).alias("similarity"),
            F.lit(SOURCE).alias("kept_in"),
        )
        return job.frames.keep(found)

    def _named(self) -> DataFrame:
        """Give the contents that go, and the kept one that each names: node, kept, similarity."""
        job = self.job
        edges = job.frames.keep(oriented(job.links, job.documents.nodes))
        edges, gone = thinned_by_centres(job, edges, self.max_rounds)
        return nearest_kept(edges, job.frames.keep(gone))

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
        job = self.job
        members = kept.unionByName(others)
        found = numbered(members, job.documents.source.ids, job.frames, few=job.few_clusters)
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

    def release(self) -> None:
        """Let go of what is kept on the workers; frames that were not read yet are made anew."""
        self.job.frames.release()
