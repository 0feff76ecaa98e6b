"""Which texts are scored together: chunks of them, in which pairs and their texts meet.

Of candidates that one task can hold, those that are linked go to one chunk, so that each text
travels once, and the scores of a whole component are known where they are made. Of more, a pair
goes to a chunk by the bucket in which it met. A component, or a bucket, whose texts are too many
for a chunk is laid out as a grid of chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.candidates.union_find import UnionFind
from lookalike.spark.arrow import NODE_BYTES, bytes_column, fixed_of, unique_nodes
from lookalike.spark.frames import collected, mapped
from lookalike.spark.naming import NEEDED, SLICED, needed_in_slices, pack_needed
from lookalike.spark.pair_packing import PAIRS, Pairs, unpack_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from lookalike.spark.frames import Frames

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "CHUNK_BYTES",
    "CHUNK_TEXTS",
    "ONE_TASK_PAIRS",
    "Placed",
    "Totals",
    "pack_asked",
    "pairs_of_chunk",
    "place_at_once",
    "placed",
    "totals_of",
]

CHUNK_BYTES = 16 << 20
"""Bytes of texts that are scored with each other, and that a task holds, about."""
CHUNK_TEXTS = 20_000
CHUNKS = 64
"""How many chunks there are at least, where there is much to score: more make tasks more even."""
ONE_TASK_PAIRS = 2_000_000
"""Candidates that one task joins into components: some 750 MB, for three seconds."""
ASKED = NEEDED + 1
"""A kind beside the names that chunks need: the pairs that are scored in a chunk."""
PLACED_TYPES = {
    **dict.fromkeys(("kind", "slice"), pa.int32()),
    **dict.fromkeys(("chunk", "texts", "bytes"), pa.int64()),
    "rows": pa.binary(),
}
PLACED = "kind int, slice int, chunk bigint, texts bigint, bytes bigint, rows binary"


class Totals(NamedTuple):
    """How much there is to score."""

    pairs: int
    bytes: int
    """Of the texts of all pairs, as often as they are in one."""


class Placed(NamedTuple):
    """What goes to each chunk."""

    asked: DataFrame
    """chunk, rows: the names of the two documents of each pair."""
    needed: DataFrame
    """slice, kind, rows: the names of their texts, each once for a chunk, packed by slice."""
    texts: int
    """How many these are, or a bound of it."""
    bytes: int


def totals_of(candidates: DataFrame) -> Totals:
    """Count packed pairs, and bound the texts that they need."""
    sums = (F.sum(name).alias(name) for name in ("pairs", "bytes"))
    (found,) = collected(candidates.agg(*sums))
    return Totals(found["pairs"] or 0, found["bytes"] or 0)


def placed(candidates: DataFrame, totals: Totals, slices: int, frames: Frames) -> Placed:
    """Place the candidates, which are packed, and the texts that they need."""
    if totals.pairs > ONE_TASK_PAIRS:
        return _by_home(mapped(candidates, unpack_pairs, PAIRS), totals, slices, frames)
    rows = frames.keep(mapped(candidates.repartition(1), place_at_once, PLACED, slices))
    needed = rows.where(F.col("kind") == NEEDED)
    (found,) = collected(needed.agg(F.sum("texts").alias("texts"), F.sum("bytes").alias("bytes")))
    return Placed(
        rows.where(F.col("kind") == ASKED).select("chunk", "rows"),
        needed.select("slice", "kind", "rows"),
        found["texts"],
        found["bytes"],
    )


def place_at_once(slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Place all candidates in one task."""
    values = [value for batch in batches for value in batch.column("rows")]
    if not values:
        return
    data = [np.frombuffer(value.as_buffer(), np.uint8) for value in values]
    pairs = Pairs.unpacked(np.concatenate(data))
    both = np.concatenate([pairs.a, pairs.b])
    distinct, places = unique_nodes(both)
    names, count = both[distinct], len(distinct)
    first, second = np.split(places, 2)
    sizes = np.zeros(count, np.int64)
    sizes[first], sizes[second] = pairs.a_bytes, pairs.b_bytes
    chunks = _chunks(first, second, pairs.homes, sizes)
    # Each text once in each chunk that needs it.
    every = _each_once(np.concatenate([chunks * count + first, chunks * count + second]))
    of_chunk, text = np.divmod(every, count)
    needed = needed_in_slices(slices, names[text], of_chunk)
    # How much is needed stands in the first row.
    total = {"texts": len(text), "bytes": int(sizes[text].sum())}
    first_row = np.arange(len(needed)) == 0
    yield _filled(needed, {name: pa.array(np.where(first_row, n, 0)) for name, n in total.items()})
    yield _filled(asked_in_chunks(chunks, pairs.a, pairs.b), {})


def _chunks(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    homes: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Give each pair of texts, which have so many bytes, the chunk in which it is scored."""
    most = min(CHUNK_BYTES, int(sizes.sum()) // CHUNKS + 1)
    share = sizes / most + 1 / CHUNK_TEXTS
    forest = UnionFind(len(sizes))
    forest.unite(first, second)
    components = forest.labels()
    room = np.bincount(components, share)
    fits = room <= 1
    chunks = _one_after_another(np.where(fits, room, 0))[components[first]]
    large = np.flatnonzero(~fits[components[first]])
    if len(large):
        cells = _cells(first[large], second[large], homes[large], share)
        chunks[large] = int(chunks.max()) + 1 + cells
    return chunks


def _one_after_another(room: NDArray[np.float64]) -> NDArray[np.int64]:
    """Fill chunks with what takes so much of their room, each up to twice at the most."""
    return np.floor(np.cumsum(room) - room).astype(np.int64)


def _cells(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    homes: NDArray[np.int64],
    share: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Give the chunks of pairs by the buckets in which they met, large ones cut into a grid."""
    _, homes = np.unique(homes, return_inverse=True)
    grid = np.ceil(2 * _room(homes, first, second, share)).astype(np.int64)[homes]
    most = int(grid.max())
    cell = (homes * most + first % grid) * most + second % grid
    _, cells = np.unique(cell, return_inverse=True)
    return _one_after_another(_room(cells, first, second, share))[cells]


def _room(
    groups: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Tell the room that the texts of each group of pairs take, each text once."""
    count = len(share)
    every = _each_once(np.concatenate([groups * count + first, groups * count + second]))
    group, text = np.divmod(every, count)
    room: NDArray[np.float64] = np.bincount(group, share[text]).astype(np.float64)
    return room


def _each_once(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give different numbers in order. NumPy looks for them by a hash table, which takes longer."""
    ordered = np.sort(values)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def _filled(rows: pa.RecordBatch, more: dict[str, pa.Array]) -> pa.RecordBatch:
    """Give rows with all columns of what is placed, null where they have none."""
    columns = {**{name: rows.column(name) for name in rows.schema.names}, **more}
    every = PLACED_TYPES.items()
    return pa.RecordBatch.from_pydict(
        {name: columns.get(name, pa.nulls(len(rows), kind)) for name, kind in every}
    )


def pairs_of_chunk(values: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Give the names of the two documents of the pairs that were packed."""
    data = [np.frombuffer(value.as_buffer(), np.uint8) for value in values]
    ends = np.concatenate(data).reshape(-1, 2 * NODE_BYTES)
    return ends[:, :NODE_BYTES], ends[:, NODE_BYTES:]


def _by_home(pairs: DataFrame, totals: Totals, slices: int, frames: Frames) -> Placed:
    """Place more pairs than one task can hold, by the buckets in which they met."""
    sizes = F.col("a_bytes") + F.col("b_bytes")
    largest = pairs.groupBy("home").agg(F.sum(sizes).alias("bytes")).agg(F.max("bytes").alias("n"))
    grids = pairs.withColumn("grid", F.lit(1).cast("bigint"))
    if collected(largest)[0]["n"] > CHUNK_BYTES:
        joined = pairs.join(F.broadcast(_large_homes(pairs)), "home", "left")
        grids = joined.withColumn("grid", F.coalesce("grid", F.lit(1)))
    chunks = max(-(-totals.bytes // CHUNK_BYTES), -(-2 * totals.pairs // CHUNK_TEXTS), CHUNKS)
    cell = [F.pmod(F.xxhash64(end), F.col("grid")) for end in ("a", "b")]
    chunk = F.pmod(F.xxhash64("home", *cell), F.lit(chunks)).alias("chunk")
    asked = grids.select(chunk, "a", "b")
    ends = [asked.select("chunk", F.col(end).alias("node")) for end in ("a", "b")]
    # Most texts are in several pairs: it is worth to count them.
    needed = frames.keep(ends[0].unionByName(ends[1]).distinct())
    count = needed.count()
    packed = mapped(asked, pack_asked, "chunk bigint, rows binary")
    needed = mapped(needed, pack_needed, SLICED, slices)
    return Placed(packed, needed, count, count * totals.bytes // (2 * totals.pairs))


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


def pack_asked(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pack the pairs of each chunk."""
    for batch in batches:
        if len(batch):
            ends = (fixed_of(batch.column(name), np.uint8) for name in ("a", "b"))
            rows = asked_in_chunks(batch.column("chunk").to_numpy(), *ends)
            yield rows.select(["chunk", "rows"])


def asked_in_chunks(
    chunks: NDArray[np.int64], a: NDArray[np.uint8], b: NDArray[np.uint8]
) -> pa.RecordBatch:
    """Pack pairs by chunk: kind, chunk, rows."""
    order = np.argsort(chunks, kind="stable")
    found, starts = np.unique(chunks[order], return_index=True)
    ends = np.concatenate([a, b], axis=1)[order]
    offsets = np.append(starts, len(order)) * ends.shape[1]
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(np.full(len(found), ASKED, np.int32)),
            "chunk": pa.array(found),
            "rows": bytes_column(ends.reshape(-1), offsets),
        }
    )
