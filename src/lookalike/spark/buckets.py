"""Candidates by the band keys of documents, shuffled and grouped by Spark.

Rows of a band and a key come to one task, packed by slice, and pass through it: small buckets are
paired as they come. A large one is cut into blocks, and each two blocks are a task of their own, so
that no task holds the pairs of a bucket. Bits that travel with the keys dismiss most pairs at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.base.errors import QuadraticError
from lookalike.base.wording import setting
from lookalike.candidates.buckets import MIN_PAIRS_LIMIT, PAIRS_PER_DOCUMENT
from lookalike.spark.frames import collected, mapped
from lookalike.spark.pair_packing import (
    CANDIDATES,
    PACKED_PAIRS,
    PAIR_BYTES,
    PAIRS,
    pack_pairs,
    unique_pairs,
    unpack_pairs,
)
from lookalike.spark.pairing import (
    BLOCK_ROWS,
    COUNTED,
    LARGE,
    MET,
    PAIR,
    Limits,
    pair_blocks,
    pair_buckets,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.recipe import Recipe
    from lookalike.spark.frames import Frames

__all__ = [
    "Met",
    "Slices",
    "all_pairs",
    "distinct_pairs",
    "paired",
    "pairs_of_small",
    "refuse_if_quadratic",
    "split_cells",
    "unique_once",
]

ROW_BYTES = 100
"""Of a band key with its bits, while it is shuffled."""
SLICES_PER_TASK = 4
"""A task holds one of them at a time."""
PAIR_SLICES_PER_TASK = 16
SLICE_PAIRS = 2_000_000
"""Pairs of a slice, at the most, that a task looks through for those that recur: some 300 MB."""


@dataclass(frozen=True)
class Met:
    """What met in the buckets of all bands."""

    pairs: DataFrame
    """Near pairs of small buckets, packed by slice; some more than once."""
    near: int
    """How many these are."""
    slices: Slices
    large: DataFrame | None
    """The rows of large buckets; None where there are none."""
    sizes: list[dict[str, Any]]
    """Of each band: pairs in its buckets, the largest, and hot_rows, the rows of large ones."""


@dataclass(frozen=True)
class Slices:
    """How buckets are cut into slices, and slices into tasks."""

    tasks: int
    count: int

    @property
    def of_pairs(self) -> int:
        """Slices in which the pairs of buckets are told apart."""
        return self.tasks * PAIR_SLICES_PER_TASK

    @classmethod
    def of(cls, documents: int, recipe: Recipe, frames: Frames) -> Slices:
        """Give slices for so many documents."""
        keys = 8 * recipe.layout.bands if recipe.layout.filtered else 0
        rows = documents * len(recipe.layout.generators)
        tasks = frames.partitions_for(rows, ROW_BYTES + keys)
        return cls(tasks, tasks * SLICES_PER_TASK)


def paired(
    packed: DataFrame, slices: Slices, recipe: Recipe, frames: Frames, *, every: bool = True
) -> Met:
    """Pair the documents of small buckets; the pairs of large ones are not made yet.

    Unless every pair is wanted, buckets count as large that are not, where there are many such.
    """
    task = F.pmod("slice", F.lit(slices.tasks))
    # In one order, so that what is made again, where a worker is lost, is the same.
    together = packed.repartitionById(slices.tasks, task).sortWithinPartitions("slice", "rows")
    limits = Limits(BLOCK_ROWS) if every else Limits.without_crowds(BLOCK_ROWS, recipe)
    given = recipe.dump(), limits, slices.of_pairs
    found = frames.keep(mapped(together, pair_buckets, MET, *given))
    sizes, near, has_large = _bucket_sizes(found)
    pairs = found.where(F.col("kind") == PAIR)
    pairs = pairs.select(F.col("key").alias("slice"), F.col("check").alias("rows"))
    if not has_large:
        return Met(pairs, near, slices, None, sizes)
    # Copies of one document may come apart where a bucket is very large.
    rows = found.where(F.col("kind") == LARGE).groupBy("band", "key", "node")
    smallest = [F.min(name).alias(name) for name in ("bytes", "place", "home", "check")]
    large = frames.keep(rows.agg(*smallest))
    return Met(pairs, near, slices, large, _with_large(sizes, large))


def all_pairs(met: Met, recipe: Recipe, distinct: int, frames: Frames) -> DataFrame:
    """Give the near pairs of all buckets, each once, packed: pairs, bytes, rows."""
    refuse_if_quadratic(met.sizes, str(recipe.cascade), distinct)
    if met.large is None:
        return pairs_of_small(met)
    cells = split_cells(met.large, ["band", "key"], "place")
    rows = sum(row["hot_rows"] for row in met.sizes)
    blocks = -(-max(row["largest"] for row in met.sizes) // BLOCK_ROWS)
    count = frames.partitions_for(rows * blocks, ROW_BYTES)
    keys = ["key", "band", "left", "right"]
    laid = cells.select(*keys, "node", F.col("bytes").alias("a_bytes"), "block", "check", "home")
    together = laid.repartition(count, *keys).sortWithinPartitions(*keys, "node")
    given = recipe.dump(), met.slices.of_pairs
    blocks = frames.keep(mapped(together, pair_blocks, PACKED_PAIRS, *given))
    (found,) = collected(blocks.agg(F.sum(F.octet_length("rows")).alias("bytes")))
    near = met.near + (found["bytes"] or 0) // PAIR_BYTES
    return _told_apart(met.pairs.unionByName(blocks), near, met.slices)


def pairs_of_small(met: Met) -> DataFrame:
    """Give the near pairs of small buckets, each once, packed."""
    return _told_apart(met.pairs, met.near, met.slices)


def _told_apart(packed: DataFrame, count: int, slices: Slices) -> DataFrame:
    """Give so many packed pairs, each once: by slices, unless these have too many."""
    if count > SLICE_PAIRS * slices.of_pairs:
        return mapped(distinct_pairs(mapped(packed, unpack_pairs, PAIRS)), pack_pairs, CANDIDATES)
    return unique_once(packed, slices)


def unique_once(packed: DataFrame, slices: Slices) -> DataFrame:
    """Give packed pairs, each once."""
    task = F.pmod("slice", F.lit(slices.tasks)).cast("int")
    together = packed.repartitionById(slices.tasks, task).sortWithinPartitions("slice")
    return mapped(together, unique_pairs, CANDIDATES)


def distinct_pairs(pairs: DataFrame) -> DataFrame:
    """Give each pair once, by one of its homes."""
    return pairs.groupBy("a", "b").agg(
        F.min("home").alias("home"),
        F.max("a_bytes").alias("a_bytes"),
        F.max("b_bytes").alias("b_bytes"),
    )


def _bucket_sizes(found: DataFrame) -> tuple[list[dict[str, Any]], int, bool]:
    """Count the pairs in the small buckets of each band, and those that are near.

    Tells also whether there are large buckets.
    """
    counted = F.col("kind") == COUNTED
    pairs = F.sum(F.when(counted, F.col("key")).cast("double")).alias("pairs")
    near = F.sum(F.when(counted, F.col("bytes"))).alias("near")
    by_band = found.where(F.col("kind") != PAIR).groupBy("kind", "band")
    rows = collected(by_band.agg(pairs, near, F.max("place").alias("largest")))
    small = [row for row in rows if row["kind"] == COUNTED]
    sizes = [{**row, "hot_rows": 0} for row in small]
    return sizes, sum(row["near"] for row in small), len(small) < len(rows)


def _with_large(sizes: list[dict[str, Any]], large: DataFrame) -> list[dict[str, Any]]:
    """Add what the large buckets of each band hold."""
    buckets = large.groupBy("band", "key").agg(F.count("*").alias("n"))
    found = collected(
        buckets.groupBy("band").agg(
            F.sum(F.col("n").cast("double") * (F.col("n") - 1) / 2).alias("pairs"),
            F.max("n").alias("largest"),
            F.sum("n").alias("hot_rows"),
        )
    )
    by_band = {row["band"]: row for row in sizes}
    for row in found:
        before = by_band.get(row["band"], {"pairs": 0.0, "largest": 0})
        by_band[row["band"]] = {
            **row,
            "pairs": before["pairs"] + row["pairs"],
            "largest": max(before["largest"], row["largest"]),
        }
    return [*by_band.values()]


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
