"""Exact scores of candidates, by a join that ships the texts of candidates alone.

The texts that a chunk needs come before its pairs, and a task holds those of one chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import mapped
from lookalike.spark.links import LINKS
from lookalike.spark.placing import placed
from lookalike.spark.text_packing import PACKED_TEXTS, pack_texts, texts_packed
from lookalike.spark.verifying import PAIRS, TEXTS, score_all, score_pairs
from lookalike.spark.workers import texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import Recipe
    from lookalike.spark.documents import Identified
    from lookalike.spark.frames import Frames
    from lookalike.spark.placing import Totals

__all__ = ["Content", "scored", "smallest_similarities"]

BROADCAST_ROWS = 1_000_000
"""Names of texts, at the most, that every worker is told rather than all texts be shuffled."""


@dataclass
class Content:
    """What two documents are scored by: their texts, or their sketches."""

    recipe: Recipe
    documents: Identified
    sketches: DataFrame | None = None
    """node, data: where scores are told from sketches."""

    def of(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the data of documents by their nodes, and the other columns of what is needed.

        The count is that of the rows that are needed, or more.
        """
        if self.sketches is not None:
            return needed.join(self.sketches, "node")
        ids = self.documents.nodes.select("node", F.col("place.id").alias("id"))
        rows = self._rows(needed.join(ids, "node"), count).drop("id")
        kept = [field for field in rows.schema.fields if field.name != "content"]
        columns = [f"{field.name} {field.dataType.simpleString()}" for field in kept]
        return mapped(rows, texts, ", ".join([*columns, "data binary"]), self.documents.form)

    def packed(self, needed: DataFrame, count: int) -> DataFrame:
        """Give the ids and the data of the documents that chunks need, packed: chunk, texts.

        What is needed is packed too, by slice.
        """
        if self.sketches is not None:
            rows = self.documents.ids_of(needed).join(self.sketches, "node")
            return mapped(rows, pack_texts, PACKED_TEXTS)
        rows = self._rows(self.documents.ids_of(needed), count)
        return mapped(rows, texts_packed, PACKED_TEXTS, self.documents.form)

    def _rows(self, needed: DataFrame, count: int) -> DataFrame:
        """Give what is needed, which has ids, with the documents as they are read."""
        by_id = F.broadcast(needed) if count <= BROADCAST_ROWS else needed
        return self.documents.source.documents().join(by_id, "id")


def scored(
    candidates: DataFrame, totals: Totals, content: Content, frames: Frames, *, whole: bool = False
) -> DataFrame:
    """Give the candidates at or above the threshold, packed.

    With `whole` they tell of the documents that are linked with them in a chunk.
    """
    if not totals.pairs:
        return frames.empty(LINKS)
    asked, needed, count, text_bytes = placed(candidates, totals, content.documents.slices, frames)
    data = content.packed(needed, count)
    parts = frames.partitions_for(count, -(-text_bytes // count))
    kind = F.lit(TEXTS).alias("kind"), F.lit(PAIRS).alias("kind")
    rows = data.select("chunk", kind[0], F.col("texts").alias("rows"))
    task = F.pmod("chunk", F.lit(parts)).cast("int")
    together = rows.unionByName(asked.select("chunk", kind[1], "rows"))
    together = together.repartitionById(parts, task).sortWithinPartitions("chunk", "kind")
    return mapped(together, score_pairs, LINKS, content.recipe.dump(), whole)


def smallest_similarities(members: DataFrame, content: Content, count: int) -> DataFrame:
    """Give the smallest similarity of any two members of each chunk: chunk, similarity."""
    data = content.of(members.select(F.col("component").alias("chunk"), "node"), count)
    together = (
        data.select("chunk", "node", "data")
        .repartition("chunk")
        .sortWithinPartitions("chunk", "node")
    )
    return mapped(together, score_all, "component binary, similarity double", content.recipe.dump())
