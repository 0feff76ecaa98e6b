"""Exact scores of candidates, by a join that ships the texts of candidates alone.

Pairs go to chunks by the bucket in which they met, so that the texts of a cluster travel together;
the texts that a chunk needs come before its pairs, and a task holds those of one chunk. Where the
texts of one bucket are too many for a chunk, they are laid out as a grid of chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import collected, mapped
from lookalike.spark.verifying import score_all, score_pairs
from lookalike.spark.workers import texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import Recipe
    from lookalike.spark.documents import Identified
    from lookalike.spark.frames import Frames

__all__ = ["Content", "scored"]

CHUNK_BYTES = 16 << 20
"""Bytes of texts that are scored with each other, and that a task holds, about."""
CHUNK_TEXTS = 20_000
BROADCAST_ROWS = 300_000
"""Names of texts, at the most, that every worker is told rather than all texts be shuffled."""
LINKS = "a binary, b binary, similarity double"


@dataclass(frozen=True)
class Content:
    """What two documents are scored by: their texts, or their sketches."""

    recipe: Recipe
    documents: Identified
    sketches: DataFrame | None = None
    """node, data: where scores are told from sketches."""

    def of(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the data of documents by their nodes, and the other columns of what is needed."""
        if self.sketches is not None:
            return needed.join(self.sketches, "node")
        names = self.documents.nodes.select("node", F.col("place.id").alias("id"))
        by_id = needed.join(names, "node")
        if count <= BROADCAST_ROWS:
            by_id = F.broadcast(by_id)
        source = self.documents.source
        rows = source.documents().join(by_id, "id").drop("id")
        kept = [field for field in rows.schema.fields if field.name != "content"]
        columns = [f"{field.name} {field.dataType.simpleString()}" for field in kept]
        return mapped(rows, texts, ", ".join([*columns, "data binary"]), self.documents.form)


def scored(pairs: DataFrame, content: Content, frames: Frames) -> DataFrame:
    """Give the candidates at or above the threshold: a, b, similarity."""
    ends = [
        pairs.select("home", F.col(end).alias("node"), F.col(f"{end}_bytes").alias("bytes"))
        for end in ("a", "b")
    ]
    by_home = (
        ends[0].unionByName(ends[1]).distinct()
        .groupBy("home").agg(F.sum("bytes").alias("bytes"), F.count("*").alias("texts"))
    )  # fmt: skip
    (total,) = collected(
        by_home.agg(
            F.sum("bytes").alias("bytes"),
            F.sum("texts").alias("texts"),
            F.max("bytes").alias("most"),
        )
    )
    if not total["texts"]:
        return pairs.select("a", "b", F.lit(0.0).alias("similarity"))
    grids = pairs.withColumn("grid", F.lit(1).cast("bigint"))
    if total["most"] > CHUNK_BYTES:
        large = by_home.where(F.col("bytes") > CHUNK_BYTES).select(
            "home", F.ceil(2 * F.col("bytes") / CHUNK_BYTES).alias("grid")
        )
        joined = pairs.join(F.broadcast(large), "home", "left")
        grids = joined.withColumn("grid", F.coalesce("grid", F.lit(1)))
    chunks = max(-(-total["bytes"] // CHUNK_BYTES), -(-total["texts"] // CHUNK_TEXTS))
    chunks = max(chunks, frames.partitions_for(total["texts"], 1))
    cell = [F.pmod(F.xxhash64(end), F.col("grid")) for end in ("a", "b")]
    placed = grids.select(F.pmod(F.xxhash64("home", *cell), F.lit(chunks)).alias("chunk"), "a", "b")
    needed = placed.select("chunk", F.col("a").alias("node")).unionByName(
        placed.select("chunk", F.col("b").alias("node"))
    )
    data = content.of(needed.distinct(), total["texts"])
    rows = data.select(
        "chunk", F.lit(0).alias("kind"), "node", F.lit(None).cast("binary").alias("b"), "data"
    )
    asked = placed.select(
        "chunk",
        F.lit(1).alias("kind"),
        F.col("a").alias("node"),
        "b",
        F.lit(None).cast("binary").alias("data"),
    )
    together = (
        rows.unionByName(asked).repartition(chunks, "chunk").sortWithinPartitions("chunk", "kind")
    )
    return mapped(together, score_pairs, LINKS, content.recipe.dump())


def smallest_similarities(members: DataFrame, content: Content, count: int) -> DataFrame:
    """Give the smallest similarity of any two members of each chunk: chunk, similarity."""
    data = content.of(members.select(F.col("component").alias("chunk"), "node"), count)
    together = data.repartition("chunk").sortWithinPartitions("chunk", "node")
    return mapped(together, score_all, "component binary, similarity double", content.recipe.dump())
