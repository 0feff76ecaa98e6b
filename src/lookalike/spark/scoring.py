"""Exact scores of candidates, by a join that ships the texts of candidates alone.

Pairs go to chunks by the bucket in which they met, so that the texts of a cluster travel together;
the texts that a chunk needs come before its pairs, and a task holds those of one chunk. Where the
texts of one bucket are too many for a chunk, they are laid out as a grid of chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import collected, mapped
from lookalike.spark.text_packing import (
    PACKED_TEXTS,
    PICKED_TEXTS,
    Wanted,
    pack_texts,
    pick_texts,
    texts_packed,
)
from lookalike.spark.verifying import score_all, score_pairs
from lookalike.spark.workers import texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import Recipe
    from lookalike.spark.documents import Identified
    from lookalike.spark.frames import Frames

__all__ = ["Content", "Totals", "scored", "smallest_similarities", "totals_of"]

CHUNK_BYTES = 16 << 20
"""Bytes of texts that are scored with each other, and that a task holds, about."""
CHUNK_TEXTS = 20_000
BROADCAST_ROWS = 1_000_000
"""Names of texts, at the most, that every worker is told rather than all texts be shuffled."""
PICKED_ROWS = 500_000
"""Names of texts, at the most, that are looked for among those that are kept."""


@dataclass
class Content:
    """What two documents are scored by: their texts, or their sketches."""

    recipe: Recipe
    documents: Identified
    sketches: DataFrame | None = None
    """node, data: where scores are told from sketches."""
    keeps_texts: bool = False
    """Whether the texts of candidates are kept: clusters of them need some again."""
    fetched: DataFrame | None = None
    """chunk, texts: those of the candidates that were scored first, which are kept, packed."""

    def of(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the data of documents by their nodes, and the other columns of what is needed.

        The count is that of the rows that are needed, or more.
        """
        if self.sketches is not None:
            return needed.join(self.sketches, "node")
        rows = self._rows(needed, count).drop("id")
        kept = [field for field in rows.schema.fields if field.name != "content"]
        columns = [f"{field.name} {field.dataType.simpleString()}" for field in kept]
        return mapped(rows, texts, ", ".join([*columns, "data binary"]), self.documents.form)

    def packed(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the ids and the data of the documents of chunks, packed: chunk, texts."""
        if self.sketches is not None:
            rows = needed.join(self.sketches, "node").join(self._ids(), "node")
            return mapped(rows, pack_texts, PACKED_TEXTS)
        rows = self._rows(needed, count)
        return mapped(rows, texts_packed, PACKED_TEXTS, self.documents.form)

    def _rows(self, needed: DataFrame, count: int) -> DataFrame:
        """Give what is needed with the documents as they are read."""
        by_id = needed.join(self._ids(), "node")
        if count <= BROADCAST_ROWS:
            by_id = F.broadcast(by_id)
        return self.documents.source.documents().join(by_id, "id")

    def _ids(self) -> DataFrame:
        return self.documents.nodes.select("node", F.col("place.id").alias("id"))

    @property
    def links(self) -> str:
        """The columns of scored pairs: with the ids of the first documents of both contents."""
        kind = self.documents.source.ids.type_name
        return f"a binary, b binary, a_id {kind}, b_id {kind}, similarity double"

    def of_scored(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the data of documents that were scored before; some may come more than once."""
        if self.fetched is None or count > PICKED_ROWS:
            return self.of(needed, count)
        wanted = Wanted.of(needed.toArrow())
        return mapped(self.fetched, pick_texts, PICKED_TEXTS, wanted)


class Totals(NamedTuple):
    """How much there is to score."""

    pairs: int
    bytes: int
    """Of the texts of all pairs, as often as they are in one."""
    largest: int
    """Bytes of the texts of one home, at the most."""


def totals_of(pairs: DataFrame) -> Totals:
    """Count pairs, and bound the texts that they need, without looking for those that recur."""
    sizes = F.col("a_bytes") + F.col("b_bytes")
    by_home = pairs.groupBy("home").agg(F.count("*").alias("pairs"), F.sum(sizes).alias("bytes"))
    totals = [F.sum("pairs").alias("pairs"), F.sum("bytes").alias("bytes")]
    (found,) = collected(by_home.agg(*totals, F.max("bytes").alias("largest")))
    return Totals(*(found[name] or 0 for name in ("pairs", "bytes", "largest")))


def scored(pairs: DataFrame, totals: Totals, content: Content, frames: Frames) -> DataFrame:
    """Give the candidates at or above the threshold: a, b, a_id, b_id, similarity."""
    if not totals.pairs:
        return frames.empty(content.links)
    grids = pairs.withColumn("grid", F.lit(1).cast("bigint"))
    if totals.largest > CHUNK_BYTES:
        large = _large_homes(pairs)
        joined = pairs.join(F.broadcast(large), "home", "left")
        grids = joined.withColumn("grid", F.coalesce("grid", F.lit(1)))
    text_bytes = -(-totals.bytes // (2 * totals.pairs))
    parts = frames.partitions_for(2 * totals.pairs, text_bytes)
    # A task scores one chunk after the other. More of them than tasks makes tasks more even.
    chunks = max(-(-totals.bytes // CHUNK_BYTES), -(-2 * totals.pairs // CHUNK_TEXTS), 4 * parts)
    cell = [F.pmod(F.xxhash64(end), F.col("grid")) for end in ("a", "b")]
    placed = grids.select(F.pmod(F.xxhash64("home", *cell), F.lit(chunks)).alias("chunk"), "a", "b")
    needed = placed.select("chunk", F.col("a").alias("node")).unionByName(
        placed.select("chunk", F.col("b").alias("node"))
    )
    needed, count = needed.distinct(), 2 * totals.pairs
    if count > BROADCAST_ROWS:
        # Most texts are in several pairs: it is worth to count them.
        needed = frames.keep(needed)
        count = needed.count()
    data = content.packed(needed, count)
    if content.keeps_texts and content.fetched is None:
        data = content.fetched = frames.keep(data)
    none = F.lit(None).cast("binary")
    kind = F.lit(0).alias("kind"), F.lit(1).alias("kind")
    rows = data.select("chunk", kind[0], none.alias("a"), none.alias("b"), "texts")
    asked = placed.select("chunk", kind[1], "a", "b", none.alias("texts"))
    task = F.pmod("chunk", F.lit(parts)).cast("int")
    together = rows.unionByName(asked).repartitionById(parts, task)
    together = together.sortWithinPartitions("chunk", "kind")
    return mapped(together, score_pairs, content.links, content.recipe.dump())


def _large_homes(pairs: DataFrame) -> DataFrame:
    """Give the homes whose texts are too many for a chunk, and the grid that they take."""
    ends = [
        pairs.select("home", F.col(end).alias("node"), F.col(f"{end}_bytes").alias("bytes"))
        for end in ("a", "b")
    ]
    by_home = ends[0].unionByName(ends[1]).distinct().groupBy("home").agg(
        F.sum("bytes").alias("bytes")
    )  # fmt: skip
    grid = F.ceil(2 * F.col("bytes") / CHUNK_BYTES).alias("grid")
    return by_home.where(F.col("bytes") > CHUNK_BYTES).select("home", grid)


def smallest_similarities(members: DataFrame, content: Content, count: int) -> DataFrame:
    """Give the smallest similarity of any two members of each chunk: chunk, similarity."""
    data = content.of_scored(members.select(F.col("component").alias("chunk"), "node"), count)
    together = (
        data.select("chunk", "node", "data")
        .repartition("chunk")
        .sortWithinPartitions("chunk", "node")
    )
    return mapped(together, score_all, "component binary, similarity double", content.recipe.dump())
