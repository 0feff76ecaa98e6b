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
from lookalike.spark.arrow import fixed_column, fixed_of, ranks, unique_nodes
from lookalike.spark.frames import collected, mapped
from lookalike.spark.links import LINKS, pack_several, unpack_links
from lookalike.spark.numbering import sizes_and_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from lookalike.spark.columns import Ids
    from lookalike.spark.frames import Frames

__all__ = [
    "ONE_TASK_LINKS",
    "cluster_at_once",
    "clusters",
    "clusters_at_once",
    "components",
    "join_at_once",
    "joins_at_once",
    "large_star",
    "small_star",
]

ONE_TASK_LINKS = 2_000_000
"""Links that one task joins at once: some 200 MB, and their ids twice."""
LABELS = "node binary, component binary"


def joins_at_once(links: int) -> bool:
    """Tell whether one task joins so many links."""
    return links <= ONE_TASK_LINKS


def clusters_at_once(links: DataFrame, several: DataFrame | None, ids: Ids) -> DataFrame:
    """Give the clusters of few links, and of copies, numbered: all in one task.

    The columns are those of `clusters`, and copies, size and cluster. Links are packed; `several`
    has the contents among which are those of more documents than one, packed too.
    """
    rows = links
    if several is not None:
        rows = rows.unionByName(mapped(several, pack_several, LINKS))
    schema = (
        f"node binary, id {ids.type_name}, label binary, similarity double, compared boolean, "
        "copies bigint, size bigint, cluster bigint"
    )
    return mapped(rows.repartition(1), cluster_at_once, schema, ids.counted)


def clusters(links: DataFrame, frames: Frames, max_rounds: int | None = None) -> DataFrame:
    """Give each linked document its component, and the smallest similarity of two members.

    The columns are node, id, label, similarity, compared. Where every two members are linked, or
    all met in one chunk, the links tell the similarity; else it is null, and those that are
    `compared` tell: all members, or those with the smallest fingerprints where they are many.
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
    of_group = F.expr("if(group.met = members, group.lowest, null)")
    every = F.expr("links = members * (members - 1) / 2")
    similarity = F.when(every, F.col("similarity")).otherwise(of_group)
    known = linked.join(sizes, "component").select("component", similarity.alias("similarity"))
    place = F.row_number().over(Window.partitionBy("component").orderBy("node"))
    compared = F.col("similarity").isNull() & (place <= COMPARED_MEMBERS)
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
    joined = _joined([*batches], ("node", "parent"))
    if joined is None:
        return
    names, _, _, leaders = joined
    yield pa.RecordBatch.from_pydict(
        {"node": fixed_column(names), "component": fixed_column(names[leaders])}
    )


def cluster_at_once(counted: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Join all links, tell the similarity of components by their links, and number them.

    Links are packed. One of a document with itself tells how many copies of it there are.
    """
    held = [*map(_with_copies, unpack_links(batches))]
    joined = _joined(held, ("a", "b"))
    if joined is None:
        return
    names, first, places, leaders = joined
    ids = pa.chunked_array([batch.column(f"{end}_id") for end in "ab" for batch in held])
    ids = pa.concat_arrays(ids.take(pa.array(first)).chunks)
    count = len(names)
    members = np.bincount(leaders, minlength=count)
    of_links = leaders[places]
    similarity, several = (
        np.concatenate([batch.column(name).to_numpy() for batch in held])
        for name in ("similarity", "copies")
    )
    links = np.bincount(of_links, several == 1, minlength=count)
    smallest = np.ones(count)
    np.minimum.at(smallest, of_links, similarity)
    copies = np.ones(count, np.int64)
    np.maximum.at(copies, places, several)
    sizes, numbers = sizes_and_numbers(leaders, copies, ids, counted=counted)
    met, lowest = (
        np.concatenate([batch.column(name).fill_null(0).to_numpy() for batch in held])
        for name in ("members", "lowest")
    )
    # Where all members met in one chunk, it is known how alike they are.
    whole = met == members[of_links]
    smallest[of_links[whole]] = lowest[whole]
    known = np.bincount(of_links, whole, minlength=count) > 0
    loose = ~known & (links < members * (members - 1) // 2)
    yield pa.RecordBatch.from_pydict(
        {
            "node": fixed_column(names),
            "id": ids,
            "label": fixed_column(names[leaders]),
            "similarity": pa.array(smallest[leaders], mask=loose[leaders]),
            "compared": pa.array(loose[leaders] & (ranks(leaders) < COMPARED_MEMBERS)),
            "copies": pa.array(copies),
            "size": pa.array(sizes),
            "cluster": pa.array(numbers),
        }
    )


def _with_copies(links: pa.RecordBatch) -> pa.RecordBatch:
    if "copies" in links.schema.names:
        return links
    return links.append_column("copies", pa.array(np.ones(len(links), np.int64)))


def _joined(
    held: list[pa.RecordBatch], ends: tuple[str, str]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """Give the names that are linked in order, where each is first among all ends of links, the
    place of one end of each link, and of each name the place of the smallest of its component.
    """
    rows = [fixed_of(batch.column(end), np.uint8) for end in ends for batch in held if len(batch)]
    if not rows:
        return None
    both = np.concatenate(rows)
    distinct, places = unique_nodes(both)
    names = both[distinct]
    first, second = np.split(places, 2)
    forest = UnionFind(len(names))
    forest.unite(first, second)
    labels = forest.labels()
    # In the order of names, the first document of a component is the smallest.
    leaders = np.full(int(labels.max()) + 1, len(names), np.int64)
    np.minimum.at(leaders, labels, np.arange(len(names)))
    return names, distinct, first, leaders[labels]
