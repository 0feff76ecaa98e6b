"""Connected components of links, by alternating large stars and small stars.

In a large star each document's larger neighbours are linked to its smallest one, in a small star
the smaller ones; links shrink to stars around the smallest document of each component. What is left
after some rounds, if that is little, one task joins by a union-find: the components are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.union_find import UnionFind
from lookalike.spark.arrow import fixed_column, fixed_of, numbers_of
from lookalike.spark.frames import collected, mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from lookalike.spark.frames import Frames

__all__ = ["ONE_TASK_LINKS", "components", "join_at_once", "large_star", "small_star"]

ONE_TASK_LINKS = 2_000_000
"""Links that one task joins at once: some 200 MB."""
LABELS = "node binary, component binary"


def components(links: DataFrame, frames: Frames, max_rounds: int | None = None) -> DataFrame:
    """Give each linked document the smallest of its component: node, component.

    After `max_rounds` rounds, what is left goes to one task, however much it is.
    """
    edges = links.select(F.greatest("a", "b").alias("node"), F.least("a", "b").alias("parent"))
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
    ends: list[list[np.ndarray]] = [[], []]
    for batch in batches:
        for end, name in zip(ends, ("node", "parent"), strict=True):
            end.append(fixed_of(batch.column(name), np.uint8).reshape(len(batch), -1))
    if not sum(map(len, ends[0])):
        return
    both = numbers_of(np.concatenate([part for end in ends for part in end if len(part)]))
    nodes, places = np.unique(both, return_inverse=True)
    first, second = np.split(places.astype(np.int64), 2)
    forest = UnionFind(len(nodes))
    forest.unite(first, second)
    labels = forest.labels()
    # In the order of names, the first document of a component is the smallest.
    leaders = np.full(int(labels.max()) + 1, len(nodes), np.int64)
    np.minimum.at(leaders, labels, np.arange(len(nodes)))
    raw = nodes.view(np.uint8).reshape(len(nodes), -1)
    yield pa.RecordBatch.from_pydict(
        {"node": fixed_column(raw), "component": fixed_column(raw[leaders[labels]])}
    )
