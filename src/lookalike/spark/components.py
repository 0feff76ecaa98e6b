"""Connected components of links, by alternating large stars and small stars.

In a large star each document's larger neighbours are linked to its smallest one, in a small star
the smaller ones; links shrink to stars around the smallest document of each component. What is left
after some rounds, if that is little, one task joins by a union-find: the components are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import COMPARED_MEMBERS
from lookalike.spark.arrow import fixed_column, fixed_of, unique_nodes
from lookalike.spark.frames import collected, mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from lookalike.spark.frames import Frames

__all__ = [
    "ONE_TASK_LINKS",
    "clusters",
    "components",
    "join_at_once",
    "large_star",
    "least_of",
    "small_star",
]

ONE_TASK_LINKS = 2_000_000
"""Links that one task joins at once: some 200 MB, and their ids twice."""
LABELS = "node binary, component binary"


def clusters(links: DataFrame, frames: Frames, max_rounds: int | None = None) -> DataFrame:
    """Give each linked document its component, and the smallest similarity of two members.

    The columns are node, id, label, similarity, compared. Where every two members are linked, or
    all met in one chunk, the links tell the similarity; else those that are `compared` may have a
    smaller one: all members, or those with the smallest fingerprints where they are many.
    """
    labels = frames.keep(components(links, frames, max_rounds))
    linked = (
        links.join(labels.withColumnRenamed("node", "a"), "a")
        .groupBy("component")
        .agg(
            F.count("*").alias("links"),
            F.min("similarity").alias("similarity"),
            F.max(F.struct(F.col("members").alias("met"), "lowest")).alias("group"),
        )
    )
    sizes = labels.groupBy("component").agg(F.count("*").alias("members"))
    met = F.coalesce(F.expr("group.met = members"), F.lit(False))
    # Of two values, of which one is null, the least is the other.
    similarity = F.least("similarity", F.when(met, F.col("group.lowest"))).alias("similarity")
    loose = ~met & F.expr("links < members * (members - 1) / 2")
    known = linked.join(sizes, "component").select("component", similarity, loose.alias("loose"))
    place = F.row_number().over(Window.partitionBy("component").orderBy("node"))
    compared = F.col("loose") & (place <= COMPARED_MEMBERS)
    named = [links.select(F.col(end).alias("node"), F.col(f"{end}_id").alias("id")) for end in "ab"]
    ids = named[0].unionByName(named[1]).groupBy("node").agg(F.first("id").alias("id"))
    found = labels.join(known, "component").join(ids, "node")
    label = F.col("component").alias("label")
    return found.select("node", "id", label, "similarity", compared.alias("compared"))


def _ends() -> tuple[Column, Column]:
    """Give the larger end of each link, and the smaller."""
    return F.greatest("a", "b").alias("node"), F.least("a", "b").alias("parent")


def components(links: DataFrame, frames: Frames, max_rounds: int | None = None) -> DataFrame:
    """Give each linked document the smallest of its component: node, component.

    After `max_rounds` rounds, what is left goes to one task, however much it is.
    """
    edges = links.select(*_ends())
    count, before = _measured(edges)
    done = 0
    while count > ONE_TASK_LINKS and (max_rounds is None or done < max_rounds):
        edges = frames.checkpoint(small_star(large_star(edges)))
        done += 1
        count, now = _measured(edges)
        if now == before:
            return _labels(edges)
        before = now
    return mapped(edges.repartition(1), join_at_once, LABELS)


def _measured(edges: DataFrame) -> tuple[int, tuple[int, int]]:
    """Count links, and give what tells two sets of links apart."""
    (found,) = collected(
        edges.agg(F.count("*").alias("n"), F.bit_xor(F.xxhash64("node", "parent")).alias("digest"))
    )
    return found["n"], (found["n"], found["digest"] or 0)


def _labels(edges: DataFrame) -> DataFrame:
    centres = edges.select(F.col("parent").alias("node"), F.col("parent").alias("component"))
    return edges.withColumnRenamed("parent", "component").unionByName(centres.distinct())


def large_star(edges: DataFrame) -> DataFrame:
    """Link the larger neighbours of each document to the smallest of it and its neighbours."""
    turned = edges.select(F.col("parent").alias("node"), F.col("node").alias("parent"))
    both = edges.unionByName(turned)
    least = both.groupBy("node").agg(F.min("parent").alias("least"))
    centre = F.least("least", "node")
    larger = both.join(least, "node").where(F.col("parent") > F.col("node"))
    return larger.select(F.col("parent").alias("node"), centre.alias("parent")).distinct()


def small_star(edges: DataFrame) -> DataFrame:
    """Link each document and its smaller neighbours to the smallest of these.

    Of each link the parent is the smaller.
    """
    least = edges.groupBy("node").agg(F.min("parent").alias("least"))
    smaller = edges.join(least, "node").where(F.col("parent") > F.col("least"))
    own = least.select("node", F.col("least").alias("parent"))
    others = smaller.select(F.col("parent").alias("node"), F.col("least").alias("parent"))
    return own.unionByName(others).distinct()


def join_at_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join all links in one task."""
    held = [batch for batch in batches if len(batch)]
    if not held:
        return
    names, leaders = _joined(held)
    yield pa.RecordBatch.from_pydict(
        {"node": fixed_column(names), "component": fixed_column(names[leaders])}
    )


def _joined(held: list[pa.RecordBatch]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the names that are linked, in order, and of each the place of the smallest it joins."""
    both = np.concatenate(
        [fixed_of(batch.column(end), np.uint8) for end in ("node", "parent") for batch in held]
    )
    distinct, places = unique_nodes(both)
    forest = UnionFind(len(distinct))
    forest.unite(*np.split(places, 2))
    return both[distinct], least_of(forest)


def least_of(forest: UnionFind) -> NDArray[np.int64]:
    """Give of each member the first of its component."""
    labels = forest.labels()
    leaders = np.full(int(labels.max()) + 1, len(labels), np.int64)
    np.minimum.at(leaders, labels, np.arange(len(labels)))
    return leaders[labels]
