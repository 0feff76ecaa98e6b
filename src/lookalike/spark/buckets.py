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

__all__ = [
    "PAIRS",
    "Met",
    "all_pairs",
    "distinct_pairs",
    "met_in_buckets",
    "paired",
    "refuse_if_quadratic",
    "split_cells",
]

MET = (
    "kind tinyint, a binary, b binary, home binary, a_bytes bigint, b_bytes bigint, band int, "
    "key bigint, place bigint, check binary"
)
PAIRS = "a binary, b binary, home binary, a_bytes bigint, b_bytes bigint"
ROW_BYTES = 100
"""Of a band key with its bits, while it is shuffled."""


@dataclass(frozen=True)
class Met:
    """What met in the buckets of all bands."""

    pairs: DataFrame
    """Near pairs of small buckets; some more than once."""
    large: DataFrame | None
    """The rows of large buckets; None where there are none."""
    sizes: list[dict[str, Any]]
    """Of each band, the pairs in its buckets, the largest, and the rows of large ones."""


def met_in_buckets(encoded: DataFrame, recipe: Recipe, distinct: int, frames: Frames) -> Met:
    """Bring documents together by their band keys; the pairs of large buckets are not made yet."""
    layout = recipe.layout
    rows = encoded.select("node", "bytes", "check", F.posexplode("keys").alias("band", "key"))
    parts = frames.partitions_for(
        distinct * len(layout.generators), ROW_BYTES + recipe_bytes(recipe)
    )
    return paired(rows, recipe, parts, frames)


def paired(rows: DataFrame, recipe: Recipe, parts: int, frames: Frames) -> Met:
    """Pair the documents of small buckets, given band, key, node, bytes and check of each."""
    together = rows.repartition(parts, "band", "key").sortWithinPartitions("key", "band", "node")
    found = frames.keep(mapped(together, pair_buckets, MET, recipe.dump(), BLOCK_ROWS))
    sizes = _bucket_sizes(found)
    pairs = found.where("kind = 0").select("a", "b", "home", "a_bytes", "b_bytes")
    if not any(row["hot"] for row in sizes):
        return Met(pairs, None, sizes)
    names = F.col("a").alias("node"), F.col("a_bytes").alias("bytes")
    large = found.where("kind = 1").select("band", "key", *names, "check", "home", "place")
    return Met(pairs, large, sizes)


def all_pairs(met: Met, recipe: Recipe, distinct: int, frames: Frames) -> DataFrame:
    """Give the near pairs of all buckets, each once: a, b, home, a_bytes, b_bytes.

    The home of a pair is the first document of a bucket in which both are.
    """
    refuse_if_quadratic(met.sizes, str(recipe.cascade), distinct)
    if met.large is None:
        return distinct_pairs(met.pairs)
    cells = split_cells(met.large, ["band", "key"], "place")
    rows = sum(row["hot_rows"] or 0 for row in met.sizes)
    blocks = -(-max(row["largest"] for row in met.sizes) // BLOCK_ROWS)
    count = frames.partitions_for(rows * blocks, ROW_BYTES)
    keys = ["key", "band", "left", "right"]
    laid = cells.select(*keys, "node", F.col("bytes").alias("a_bytes"), "block", "check", "home")
    together = laid.repartition(count, *keys).sortWithinPartitions(*keys, "node")
    return distinct_pairs(
        met.pairs.unionByName(mapped(together, pair_blocks, PAIRS, recipe.dump()))
    )


def distinct_pairs(pairs: DataFrame) -> DataFrame:
    """Give each pair once, by the first of its homes."""
    return pairs.groupBy("a", "b").agg(
        F.min("home").alias("home"),
        F.max("a_bytes").alias("a_bytes"),
        F.max("b_bytes").alias("b_bytes"),
    )


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
