"""Pairs and clusters of documents, of so few links that one task holds all of them.

Documents that are identical to others come listed, and links are of contents: here each document
gets its own row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import COMPARED_MEMBERS
from lookalike.spark.arrow import every_two, fixed_column, fixed_of, ranks, unique_nodes
from lookalike.spark.components import least_of
from lookalike.spark.frames import mapped
from lookalike.spark.links import unpack_links
from lookalike.spark.numbering import order_of_ids, sizes_and_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from lookalike.spark.job import SparkJob

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "ONE_TASK_COPIES",
    "clusters_at_once",
    "list_clusters",
    "list_pairs",
    "lists_pairs",
    "pairs_at_once",
    "serves",
]

ONE_TASK_LINKS = 2_000_000
"""Links that one task holds: some 500 MB, with ids that are numbers."""
ONE_TASK_COPIES = 500_000
"""Documents identical to others that it holds besides."""
ONE_TASK_BYTES = 1 << 28
"""Bytes of ids that are text, at the most."""
ONE_TASK_PAIRS = 1 << 28
"""Pairs of documents that it makes, if each content of a link had the most copies of any: a minute,
where all had."""
OUT_PAIRS = 1 << 18
"""Pairs that are handed over at a time, about."""


def serves(job: SparkJob) -> bool:
    """Tell whether one task holds the links of a job, and the documents that are identical."""
    counts, documents = job.counts, job.documents
    ids = 2 * counts["links"] + counts["identical"]
    if ids * documents.id_bytes > ONE_TASK_BYTES:
        return False
    return counts["links"] <= ONE_TASK_LINKS and (
        not counts["identical"]
        or (counts["identical"] <= ONE_TASK_COPIES and documents.copies is not None)
    )


def lists_pairs(job: SparkJob) -> bool:
    """Tell whether one task makes the pairs of a job."""
    most, counts = max(job.documents.most_copies, 1), job.counts
    pairs = counts["links"] * most**2 + counts["identical"] * most
    return serves(job) and pairs <= ONE_TASK_PAIRS


def pairs_at_once(job: SparkJob, score: str) -> DataFrame:
    """Give the pairs of documents: a, b, similarity, score."""
    ids = job.documents.source.ids
    schema = f"a {ids.type_name}, b {ids.type_name}, similarity double, score string"
    return mapped(_together(job), list_pairs, schema, ids.counted, score)


def clusters_at_once(job: SparkJob) -> DataFrame:
    """Give the members of clusters, numbered: id, cluster, size, similarity, and three more.

    Where links do not tell the similarity, it is that of the links, and the contents that are
    `compared` may have a smaller one: they have `node` and `label`, which names their cluster.
    """
    ids = job.documents.source.ids
    schema = (
        f"id {ids.type_name}, cluster bigint, size bigint, similarity double, "
        "node binary, label binary, compared boolean"
    )
    return mapped(_together(job), list_clusters, schema, ids.counted)


def _together(job: SparkJob) -> DataFrame:
    rows = job.packed_links.select("rows")
    if job.counts["identical"] and job.documents.copies is not None:
        rows = rows.unionByName(job.documents.copies.select(F.col("copied").alias("rows")))
    return rows.repartition(1)


class Held(NamedTuple):
    """All links, and the documents that are identical to others."""

    first: NDArray[np.int64]
    """Of each link the place of one content among all, in the order of their names."""
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]
    members: NDArray[np.int64]
    lowest: NDArray[np.float64]
    names: NDArray[np.uint8]
    """Of all contents."""
    ids: pa.Array
    """Of the first ends of links, then of the second ends, then of the copies."""
    copied: NDArray[np.int64]
    """Of each copy the place of its content."""

    def documents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Give all documents by their places among the ids, those of a content together.

        Also where those of each content begin, and how many they are.
        """
        count, links = len(self.names), len(self.first)
        listed = np.bincount(self.copied, minlength=count)
        own = np.full(count, -1)
        own[self.second] = links + np.arange(links)
        own[self.first] = np.arange(links)
        alone = np.flatnonzero(listed == 0)
        contents = np.concatenate([alone, self.copied])
        places = np.concatenate([own[alone], 2 * links + np.arange(len(self.copied))])
        order = np.argsort(contents, kind="stable")
        sizes = np.maximum(listed, 1)
        return places[order], np.cumsum(sizes) - sizes, sizes


def _held(batches: Batches) -> Held | None:
    """Read links and copies."""
    links: list[pa.RecordBatch] = []
    copies: list[pa.RecordBatch] = []
    for rows in unpack_links(batches):
        if len(rows):
            (copies if "node" in rows.schema.names else links).append(rows)
    if not links and not copies:
        return None
    parts = [fixed_of(rows.column(end), np.uint8) for end in "ab" for rows in links]
    parts += [fixed_of(rows.column("node"), np.uint8) for rows in copies]
    every = np.concatenate(parts)
    distinct, places = unique_nodes(every)
    count = sum(map(len, links))
    ids = [rows.column(f"{end}_id") for end in "ab" for rows in links]
    ids += [rows.column("id") for rows in copies]
    similarity, members, lowest = (
        np.concatenate(
            [np.empty(0), *(rows.column(name).fill_null(0).to_numpy() for rows in links)]
        )
        for name in ("similarity", "members", "lowest")
    )
    first, second, copied = np.split(places, [count, 2 * count])
    told = similarity, members.astype(np.int64), lowest
    return Held(first, second, *told, every[distinct], pa.concat_arrays(ids), copied)


def list_pairs(counted: bool, score: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give each pair of documents once: those of linked contents, and identical ones."""
    held = _held(batches)
    if held is None:
        return
    places, starts, sizes = held.documents()
    rank = np.empty(len(held.ids), np.int64)
    rank[order_of_ids(held.ids, counted=counted)] = np.arange(len(held.ids))

    def rows(
        one: NDArray[np.int64], other: NDArray[np.int64], similarity: NDArray[np.float64], how: str
    ) -> pa.RecordBatch:
        one, other = places[one], places[other]
        turned = rank[one] > rank[other]
        a, b = np.where(turned, other, one), np.where(turned, one, other)
        return pa.RecordBatch.from_pydict(
            {
                "a": held.ids.take(pa.array(a)),
                "b": held.ids.take(pa.array(b)),
                "similarity": pa.array(similarity),
                "score": pa.array([how]).take(pa.array(np.zeros(len(a), np.int64))),
            }
        )

    every = np.cumsum(sizes[held.first] * sizes[held.second])
    for part in _parts(every):
        first, second = held.first[part], held.second[part]
        times = sizes[first] * sizes[second]
        link = np.repeat(np.arange(len(times)), times)
        which = np.arange(len(link)) - np.repeat(np.cumsum(times) - times, times)
        of_first, of_second = np.divmod(which, sizes[second][link])
        ends = starts[first][link] + of_first, starts[second][link] + of_second
        yield rows(*ends, held.similarity[part][link], score)
    contents = np.repeat(np.arange(len(sizes)), sizes)
    shared = np.flatnonzero(sizes[contents] > 1)
    pairs = np.cumsum(sizes * (sizes - 1) // 2)[sizes > 1]
    bounds = np.cumsum(sizes[sizes > 1])
    for part in _parts(pairs):
        begin = bounds[part.start - 1] if part.start else 0
        some = shared[begin : bounds[part.stop - 1]]
        one, other = every_two(contents[some])
        yield rows(some[one], some[other], np.ones(len(one)), "exact")


def _parts(totals: NDArray[np.int64]) -> Iterator[slice]:
    """Cut what has so many pairs, up to each, into parts of some pairs."""
    start = 0
    while start < len(totals):
        before = totals[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(totals, before + OUT_PAIRS, "right")))
        yield slice(start, stop)
        start = stop


def list_clusters(counted: bool, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the documents that are linked or identical, with their clusters."""
    held = _held(batches)
    if held is None:
        return
    count = len(held.names)
    forest = UnionFind(count)
    forest.unite(held.first, held.second)
    # In the order of names, the first content of a component is the smallest.
    leaders = least_of(forest)
    similarity, loose = _similarities(held, leaders)
    compared = loose[leaders] & (ranks(leaders) < COMPARED_MEMBERS)
    places, starts, sizes = held.documents()
    contents = np.repeat(np.arange(count), sizes)
    of_document = leaders[contents]
    ids = held.ids.take(pa.array(places))
    ones = np.ones(len(places), np.int64)
    members, numbers = sizes_and_numbers(of_document, ones, ids, counted=counted)
    # A content is compared once, by the row of its first document.
    is_first = np.zeros(len(places), np.bool_)
    is_first[starts] = True
    told = is_first & compared[contents]
    unknown = loose[of_document]
    yield pa.RecordBatch.from_pydict(
        {
            "id": ids,
            "cluster": pa.array(numbers),
            "size": pa.array(members),
            "similarity": pa.array(similarity[of_document]),
            "node": _where(told, held.names[contents[told]]),
            "label": _where(unknown, held.names[of_document[unknown]]),
            "compared": pa.array(told),
        }
    )


def _similarities(
    held: Held, leaders: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Give the smallest similarity that is known of each component, and where it may be smaller."""
    count = len(leaders)
    members = np.bincount(leaders, minlength=count)
    of_links = leaders[held.first]
    smallest = np.ones(count)
    np.minimum.at(smallest, of_links, held.similarity)
    # Where all members met in one chunk, it is known how alike they are.
    whole = held.members == members[of_links]
    np.minimum.at(smallest, of_links[whole], held.lowest[whole])
    known = np.bincount(of_links, whole, minlength=count) > 0
    linked = np.bincount(of_links, minlength=count)
    return smallest, ~known & (linked < members * (members - 1) // 2)


def _where(chosen: NDArray[np.bool_], values: NDArray[np.uint8]) -> pa.Array:
    """Give a value in each row that is chosen, and null in the others."""
    places = np.cumsum(chosen) - 1
    if not len(values):
        return pa.nulls(len(chosen), pa.binary())
    return fixed_column(values).take(pa.array(places, mask=~chosen))
