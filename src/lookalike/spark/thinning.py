"""Which documents stay: each unless it is similar to a kept one that is preferred to it.

In rounds over the links: a document that no link comes to from a preferred one is kept, and those
that it links to go. What is left after some rounds, if that is little, one task settles in the
order of preference; the result is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.spark.frames import mapped, unioned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from lookalike.spark.documents import Identified
    from lookalike.spark.frames import Frames

__all__ = [
    "ONE_TASK_LINKS",
    "named_at_once",
    "nearest_kept",
    "oriented",
    "removed",
    "settle_and_name",
    "settle_at_once",
    "settle_partly",
    "settles_at_once",
]

ONE_TASK_LINKS = 2_000_000
"""Links that one task settles at once."""


def settles_at_once(links: int) -> bool:
    """Tell whether one task settles so many links."""
    return links <= ONE_TASK_LINKS


def oriented(links: DataFrame, documents: Identified) -> DataFrame:
    """Give links from the preferred document to the other: first, second, their places, similarity.

    A place is that of the order of preference.
    """
    placed = links
    for end in ("a", "b"):
        if documents.by_id:
            placed = placed.withColumn(f"{end}_place", documents.place_of(f"{end}_id"))
        else:
            names = F.col("node").alias(end), F.col("place").alias(f"{end}_place")
            placed = placed.join(documents.nodes.select(*names), end)
    turned = F.col("a_place") > F.col("b_place")
    columns = [
        F.when(turned, F.col(other)).otherwise(F.col(one)).alias(name)
        for one, other, name in (
            ("a", "b", "first"),
            ("b", "a", "second"),
            ("a_place", "b_place", "first_place"),
            ("b_place", "a_place", "second_place"),
        )
    ]
    return placed.select(*columns, "similarity")


def removed(edges: DataFrame, frames: Frames, max_rounds: int | None = None) -> DataFrame:
    """Give the documents that go: node.

    Of each link `first` is preferred to `second`, whose place in the order is `second_place`.
    After `max_rounds` rounds, what is left goes to one task, however much it is.
    """
    gone: list[DataFrame] = []
    left = edges.select("first", "second", "second_place")
    done, count = 0, left.count()
    while count > ONE_TASK_LINKS and (max_rounds is None or done < max_rounds):
        seconds = left.select(F.col("second").alias("first")).distinct()
        kept = left.select("first").distinct().join(seconds, "first", "left_anti")
        going = left.join(kept, "first", "left_semi").select(F.col("second").alias("node"))
        going = frames.checkpoint(going.distinct())
        gone.append(going)
        for end in ("first", "second"):
            left = left.join(going.withColumnRenamed("node", end), end, "left_anti")
        left = frames.checkpoint(left.select("first", "second", "second_place"))
        done, count = done + 1, left.count()
    if count:
        ordered = left.repartition(1).sortWithinPartitions("second_place").select("first", "second")
        gone.append(mapped(ordered, settle_at_once, "node binary"))
    if not gone:
        return left.select(F.col("second").alias("node"))
    return unioned(gone)


def named_at_once(edges: DataFrame, id_type: str) -> DataFrame:
    """Settle all links in one task: node, kept_id, similarity, of each document that goes."""
    ordered = edges.repartition(1).sortWithinPartitions("second_place", "first_place")
    kept = F.col("first_place.id").alias("kept_id")
    columns = ordered.select("first", "second", kept, "similarity")
    schema = f"node binary, kept_id {id_type}, similarity double"
    return mapped(columns, settle_and_name, schema)


def settle_and_name(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the documents that go, each with the most similar kept one.

    Links come in the order of their second documents, and then of their first: of equally similar
    ones the first counts.
    """
    gone: set[bytes] = set()
    current: bytes | None = None
    best: tuple[Any, float] | None = None
    kind = pa.int64()
    for batch in batches:
        kind = batch.schema.field("kept_id").type
        found = []
        names = ("first", "second", "kept_id", "similarity")
        for first, second, kept_id, similarity in zip(
            *(batch.column(name).to_pylist() for name in names), strict=True
        ):
            if second != current:
                if best is not None:
                    found.append((current, *best))
                current, best = second, None
            if first not in gone:
                gone.add(second)
                if best is None or similarity > best[1]:
                    best = kept_id, similarity
        yield _named(found, kind)
    yield _named([] if best is None else [(current, *best)], kind)


def _named(found: list[tuple[Any, ...]], id_type: pa.DataType) -> pa.RecordBatch:
    kinds = {"node": pa.binary(), "kept_id": id_type, "similarity": pa.float64()}
    return pa.RecordBatch.from_pydict(
        {
            name: pa.array([row[i] for row in found], kind)
            for i, (name, kind) in enumerate(kinds.items())
        }
    )


def settle_at_once(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give the documents that go, of links that come in the order of their second documents.

    Where a link comes, what becomes of its first document is known.
    """
    gone: set[bytes] = set()
    for batch in batches:
        before = len(gone)
        fresh = []
        firsts, seconds = batch.column("first").to_pylist(), batch.column("second").to_pylist()
        for first, second in zip(firsts, seconds, strict=True):
            if first not in gone and second not in gone:
                gone.add(second)
                fresh.append(second)
        if len(gone) > before:
            yield pa.RecordBatch.from_pydict({"node": pa.array(fresh, pa.binary())})


def settle_partly(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give what becomes of the second documents of links, where not all links are known yet.

    Links come in the order of their second documents. A document that is `open` may have links that
    are not known: it may go, but is not known to stay. What is given is that a document goes, or
    that it is not known.
    """
    stays, goes, unknown = 0, 1, 2
    known: dict[bytes, int] = {}
    for batch in batches:
        names = ("first", "second", "first_open", "second_open")
        for first, second, first_open, second_open in zip(
            *(batch.column(name).to_pylist() for name in names), strict=True
        ):
            before = known.setdefault(first, unknown if first_open else stays)
            now = known.setdefault(second, unknown if second_open else stays)
            if before == stays:
                known[second] = goes
            elif before == unknown and now == stays:
                known[second] = unknown
    found = [(name, fate == goes) for name, fate in known.items() if fate != stays]
    yield pa.RecordBatch.from_pydict(
        {
            "node": pa.array([name for name, _ in found], pa.binary()),
            "goes": pa.array([fate for _, fate in found], pa.bool_()),
        }
    )


def nearest_kept(edges: DataFrame, gone: DataFrame) -> DataFrame:
    """Give for each document that goes the most similar kept one before it: node, kept, similarity.

    Of equally similar ones it is the first in the order of preference.
    """
    kept = edges.join(gone.withColumnRenamed("node", "first"), "first", "left_anti")
    best = F.min(F.struct((-F.col("similarity")).alias("s"), "first_place", "first"))
    found = kept.groupBy("second").agg(best.alias("best"))
    return found.select(
        F.col("second").alias("node"),
        F.col("best.first").alias("kept"),
        (-F.col("best.s")).alias("similarity"),
    )
