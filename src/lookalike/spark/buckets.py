"""Candidates by the band keys of documents, shuffled and grouped by Spark.

Rows of a band and a key come to one task, sorted, and pass through it: small buckets are paired as
they come. A large one is cut into blocks, and each two blocks are a task of their own, so that no
task holds the pairs of a bucket. Bits that travel with the keys dismiss most pairs at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.base.errors import QuadraticError
from lookalike.base.wording import setting
from lookalike.candidates.buckets import MIN_PAIRS_LIMIT, PAIRS_PER_DOCUMENT
from lookalike.spark.frames import collected, mapped
from lookalike.spark.pairing import BLOCK_ROWS, pair_blocks, pair_buckets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import Recipe
    from lookalike.spark.frames import Frames

__all__ = ["Met", "candidates", "refuse_if_quadratic", "split_cells"]

MET = (
    "kind tinyint, a binary, b binary, home binary, a_bytes bigint, b_bytes bigint, band int, "
    "key bigint, place bigint, check binary"
)
PAIRS = "a binary, b binary, home binary, a_bytes bigint, b_bytes bigint"
ROW_BYTES = 100
"""Of a band key with its bits, while it is shuffled."""


@dataclass(frozen=True)
class Met:
    """Candidates, and how many documents met."""

    pairs: DataFrame
    """a, b, home, a_bytes, b_bytes: each pair once; its home is the first document of a bucket in
    which both are."""
    met: int
    """Times that two documents met in a bucket."""
    near: int
    """Times that the bits of two did not dismiss them."""


def candidates(encoded: DataFrame, recipe: Recipe, distinct: int, frames: Frames) -> Met:
    """Give the pairs of documents that share a bucket, and whose sketches are near."""
    dump, layout = recipe.dump(), recipe.layout
    rows = encoded.select("node", "bytes", "check", F.posexplode("keys").alias("band", "key"))
    parts = frames.partitions_for(
        distinct * len(layout.generators), ROW_BYTES + recipe_bytes(recipe)
    )
    sorted_rows = rows.repartition(parts, "band", "key").sortWithinPartitions("band", "key", "node")
    found = frames.keep(mapped(sorted_rows, pair_buckets, MET, dump))
    sizes = _bucket_sizes(found)
    refuse_if_quadratic(sizes, str(recipe.cascade), distinct)
    pairs = found.where("kind = 0").select("a", "b", "home", "a_bytes", "b_bytes")
    if any(row["hot"] for row in sizes):
        cells = split_cells(found.where("kind = 1"), ["band", "key"], "place")
        hot_rows = sum(row["hot_rows"] or 0 for row in sizes)
        largest = max(row["largest"] for row in sizes)
        blocks = -(-largest // BLOCK_ROWS)
        count = frames.partitions_for(hot_rows * blocks, ROW_BYTES)
        keys = ["band", "key", "left", "right"]
        laid = cells.select(*keys, F.col("a").alias("node"), "a_bytes", "block", "check", "home")
        together = laid.repartition(count, *keys).sortWithinPartitions(*keys, "node")
        pairs = pairs.unionByName(mapped(together, pair_blocks, PAIRS, dump))
    distinct_pairs = pairs.groupBy("a", "b").agg(
        F.min("home").alias("home"),
        F.max("a_bytes").alias("a_bytes"),
        F.max("b_bytes").alias("b_bytes"),
    )
    met = sum(row["pairs"] for row in sizes)
    return Met(distinct_pairs, met, 0)


def recipe_bytes(recipe: Recipe) -> int:
    """Tell how many bytes of keys travel with each key."""
    return 8 * recipe.layout.bands if recipe.layout.filtered else 0


def _bucket_sizes(found: DataFrame) -> list[dict[str, Any]]:
    """Count the pairs in the buckets of each band, the documents of large ones, and the largest."""
    small = found.where("kind = 2").select(
        "band",
        F.col("key").cast("double").alias("pairs"),
        F.col("place").alias("largest"),
        F.lit(0).cast("bigint").alias("hot"),
        F.lit(0).cast("bigint").alias("hot_rows"),
    )
    hot = (
        found.where("kind = 1").groupBy("band", "key").agg(F.count("*").alias("n"))
        .select(
            "band",
            (F.col("n").cast("double") * (F.col("n") - 1) / 2).alias("pairs"),
            F.col("n").alias("largest"),
            F.lit(1).cast("bigint").alias("hot"),
            F.col("n").alias("hot_rows"),
        )
    )  # fmt: skip
    every = small.unionByName(hot).groupBy("band")
    totals = [F.sum(name).alias(name) for name in ("pairs", "hot", "hot_rows")]
    return collected(every.agg(*totals, F.max("largest").alias("largest")))


def refuse_if_quadratic(sizes: list[dict[str, Any]], cascade: str, documents: int) -> None:
    """Refuse large buckets that hold too many pairs, before any of them is made."""
    worst = max(sizes, key=lambda row: row["pairs"], default=None)
    max_pairs = max(MIN_PAIRS_LIMIT, PAIRS_PER_DOCUMENT * documents)
    if worst is None or worst["pairs"] <= max_pairs:
        return
    total = int(worst["pairs"])
    share = total / (documents * (documents - 1) / 2)
    raise QuadraticError(
        f"the cascade '{cascade}' puts {total:,} pairs of {documents:,} documents in the buckets "
        f"of one band ({share:.1%} of all, the largest bucket holds "
        f"{max(row['largest'] for row in sizes):,}), more than {max_pairs:,}: use a longer "
        f"{setting('shingle')}, a higher {setting('threshold')}, or a {setting('cascade')} that "
        "begins with a larger 'and'"
    )


def split_cells(rows: DataFrame, keys: list[str], place: str) -> DataFrame:
    """Give each row of a group to every two blocks of the group of which one holds it.

    Rows of a group are counted from 0 by their place, and cut into blocks; the cell of two blocks
    has the earlier for its `left` and the later for its `right`.
    """
    blocked = rows.withColumn("block", F.floor(F.col(place) / BLOCK_ROWS).cast("int"))
    blocks = blocked.groupBy(*keys).agg(F.max("block").alias("last"))
    other = F.explode(F.sequence(F.lit(0), F.col("last"))).alias("other")
    every = blocked.join(F.broadcast(blocks), keys).select(*blocked.columns, other)
    return every.withColumns(
        {"left": F.least("block", "other"), "right": F.greatest("block", "other")}
    ).drop("other")
