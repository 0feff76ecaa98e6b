"""Pairs of documents in buckets, on the workers: as sorted rows pass through a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.kernels import near_bands as kernels
from lookalike.spark.arrow import fixed_column, fixed_of, numbers_of
from lookalike.spark.workers import loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import Recipe

    Batches = Iterable[pa.RecordBatch]

__all__ = ["BLOCK_ROWS", "Rows", "pair_blocks", "pair_buckets", "pair_with_centres"]

BLOCK_ROWS = 2048
"""Documents of a bucket that are paired as they come, and of a block of a larger one. So small a
bucket makes about as many pairs for a document as no job may have more of."""
OUT_PAIRS = 1 << 16
"""Pairs that are handed over at a time."""
CROSS_ROWS = 64
"""Documents of one block that are compared with the other at a time."""


class Rows(NamedTuple):
    """Rows of buckets, in order."""

    bands: NDArray[np.int32]
    keys: NDArray[np.int64]
    nodes: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    """Bytes of each document."""
    checks: NDArray[np.uint8]

    def some(self, chosen: slice | NDArray[np.int64]) -> Rows:
        """Give some rows."""
        columns: list[Any] = [column[chosen] for column in self]
        return Rows(*columns)

    def after(self, before: Rows) -> Rows:
        """Give these rows after others."""
        columns: list[Any] = [np.concatenate([b, c]) for b, c in zip(before, self, strict=True)]
        return Rows(*columns)


def pair_buckets(recipe: str, block_rows: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of small buckets, the rows of large ones, and how many met.

    Rows come sorted by bucket. What is held is a batch and the rows of one bucket, no more than a
    block.
    """
    known = loaded(recipe)
    waiting: Rows | None = None
    large: tuple[int, int, int, NDArray[np.uint8]] | None = None
    counts: dict[int, list[int]] = {}
    for batch in batches:
        rows = _rows_of(batch)
        if not len(rows.keys):
            continue
        if waiting is not None:
            rows = rows.after(waiting)
            waiting = None
        start = 0
        if large is not None:
            band, key, place, home = large
            mine = (rows.bands == band) & (rows.keys == key)
            start = int(np.argmin(mine)) if not mine.all() else len(mine)
            yield _large(rows.some(slice(0, start)), place, home)
            large = (band, key, place + start, home) if start == len(mine) else None
        last = _last_bucket(rows, start)
        yield from _small(known, rows.some(slice(start, last)), counts, block_rows)
        yield from _large_in(rows.some(slice(start, last)), block_rows)
        rest = rows.some(slice(last, len(rows.keys)))
        if len(rest.keys) > block_rows:
            yield _large(rest, 0, rest.nodes[0])
            large = (int(rest.bands[0]), int(rest.keys[0]), len(rest.keys), rest.nodes[0])
        elif len(rest.keys):
            waiting = rest
    if waiting is not None:
        yield from _small(known, waiting, counts, block_rows)
    yield _counted(counts)


def _rows_of(batch: pa.RecordBatch) -> Rows:
    return Rows(
        batch.column("band").to_numpy(),
        batch.column("key").to_numpy(),
        fixed_of(batch.column("node"), np.uint8),
        batch.column("bytes").to_numpy(),
        fixed_of(batch.column("check"), np.uint8),
    )


def _starts(rows: Rows) -> NDArray[np.int64]:
    """Give where buckets begin."""
    new = np.ones(len(rows.keys), np.bool_)
    new[1:] = (rows.keys[1:] != rows.keys[:-1]) | (rows.bands[1:] != rows.bands[:-1])
    return np.flatnonzero(new)


def _last_bucket(rows: Rows, start: int) -> int:
    """Give where the last bucket begins: more of it may come."""
    if start >= len(rows.keys):
        return start
    return start + int(_starts(rows.some(slice(start, None)))[-1])


def _small(
    recipe: Recipe, rows: Rows, counts: dict[int, list[int]], block_rows: int
) -> Iterator[pa.RecordBatch]:
    """Pair the documents of the small ones of whole buckets."""
    if not len(rows.keys):
        return
    starts = _starts(rows)
    sizes = np.diff(np.append(starts, len(rows.keys)))
    for band in np.unique(rows.bands[starts]):
        mine = sizes[(rows.bands[starts] == band) & (sizes <= block_rows)]
        pairs, largest = counts.setdefault(int(band), [0, 0])
        more = int((mine * (mine - 1) // 2).sum())
        counts[int(band)] = [pairs + more, max(largest, int(mine.max(initial=0)))]
    paired = np.repeat((sizes > 1) & (sizes <= block_rows), sizes)
    chosen = np.flatnonzero(paired)
    if not len(chosen):
        return
    buckets = np.repeat(np.arange(len(starts), dtype=np.uint64), sizes)[chosen]
    homes = np.repeat(rows.nodes[starts], sizes, axis=0)
    every = rows.some(chosen)
    state = np.array([0, 1, 0])
    order = np.arange(len(chosen), dtype=np.uint32)
    empty = np.zeros(len(chosen), np.bool_)
    bits = _bits(recipe, every)
    while state[0] < len(chosen):
        block = np.empty(OUT_PAIRS, np.uint64)
        written = kernels.near_in_buckets(
            buckets, order, empty, bits, recipe.most_differing, state, block
        )
        first = (block[:written] >> np.uint64(32)).astype(np.int64)
        second = (block[:written] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        first, second = _holding(recipe, every, first, second)
        if len(first):
            yield _pairs(every, first, second, homes[chosen][first])


def _bits(recipe: Recipe, rows: Rows) -> NDArray[np.uint64]:
    """Give the bits that are compared first."""
    width = rows.checks.shape[1] - _key_bytes(recipe)
    return np.ascontiguousarray(rows.checks[:, :width]).view(np.uint64).reshape(len(rows.keys), -1)


def _key_bytes(recipe: Recipe) -> int:
    return 8 * recipe.layout.bands if recipe.layout.filtered else 0


def _holding(
    recipe: Recipe, rows: Rows, first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the pairs for which the whole cascade holds."""
    if not recipe.layout.filtered:
        return first, second
    width = _key_bytes(recipe)
    keys = np.ascontiguousarray(rows.checks[:, -width:]).view(np.uint64)
    holding = recipe.layout.holds(np.ascontiguousarray(keys.T), first, second)
    return first[holding], second[holding]


def _pairs(
    rows: Rows, first: NDArray[np.int64], second: NDArray[np.int64], homes: NDArray[np.uint8]
) -> pa.RecordBatch:
    count = len(first)
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(np.zeros(count, np.int8)),
            "a": fixed_column(rows.nodes[first]),
            "b": fixed_column(rows.nodes[second]),
            "home": fixed_column(homes),
            "a_bytes": pa.array(rows.sizes[first]),
            "b_bytes": pa.array(rows.sizes[second]),
            "band": pa.nulls(count, pa.int32()),
            "key": pa.nulls(count, pa.int64()),
            "place": pa.nulls(count, pa.int64()),
            "check": pa.nulls(count, pa.binary()),
        }
    )


def _large(rows: Rows, place: int, home: NDArray[np.uint8]) -> pa.RecordBatch:
    """Hand on rows of a large bucket, counted from a place on."""
    count = len(rows.keys)
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(np.ones(count, np.int8)),
            "a": fixed_column(rows.nodes),
            "b": pa.nulls(count, pa.binary()),
            "home": fixed_column(np.broadcast_to(home, (count, len(home)))),
            "a_bytes": pa.array(rows.sizes),
            "b_bytes": pa.nulls(count, pa.int64()),
            "band": pa.array(rows.bands),
            "key": pa.array(rows.keys),
            "place": pa.array(np.arange(place, place + count)),
            "check": fixed_column(rows.checks),
        }
    )


def _large_in(rows: Rows, block_rows: int) -> Iterator[pa.RecordBatch]:
    """Hand on the large ones of whole buckets."""
    if not len(rows.keys):
        return
    starts = _starts(rows)
    ends = np.append(starts[1:], len(rows.keys))
    for bucket in np.flatnonzero(ends - starts > block_rows):
        begin, end = int(starts[bucket]), int(ends[bucket])
        yield _large(rows.some(slice(begin, end)), 0, rows.nodes[begin])


def _counted(counts: dict[int, list[int]]) -> pa.RecordBatch:
    """Say how many pairs the small buckets of each band hold, and how large the largest is."""
    bands = sorted(counts)
    blank = {
        "a": pa.binary(),
        "b": pa.binary(),
        "home": pa.binary(),
        "a_bytes": pa.int64(),
        "b_bytes": pa.int64(),
    }
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(np.full(len(bands), 2, np.int8)),
            **{name: pa.nulls(len(bands), kind) for name, kind in blank.items()},
            "band": pa.array(bands, pa.int32()),
            "key": pa.array([counts[band][0] for band in bands], pa.int64()),
            "place": pa.array([counts[band][1] for band in bands], pa.int64()),
            "check": pa.nulls(len(bands), pa.binary()),
        }
    )


def pair_blocks(recipe: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of every two blocks of large buckets.

    Rows come sorted by the bucket and the two blocks; no more than these are held.
    """
    known = loaded(recipe)
    for left, right, rows, blocks, home in _cells(batches):
        one = np.flatnonzero(blocks == left)
        other = one if left == right else np.flatnonzero(blocks == right)
        for near in _near(known, rows, one, other):
            ends = _holding(known, rows, *near)
            # A pair has the name that sorts first for its first, as in small buckets.
            first, second = np.minimum(*ends), np.maximum(*ends)
            if len(first):
                homes = np.broadcast_to(home, (len(first), len(home)))
                yield _pairs(rows, first, second, homes).select(
                    ["a", "b", "home", "a_bytes", "b_bytes"]
                )


def _cells(
    batches: Batches,
) -> Iterator[tuple[int, int, Rows, NDArray[np.int32], NDArray[np.uint8]]]:
    """Give the rows of each cell, by name, with the blocks that they are of."""
    names = ("band", "key", "left", "right")
    held: list[pa.RecordBatch] = []
    current: tuple[int, ...] | None = None
    for batch in batches:
        if not len(batch):
            continue
        columns = [batch.column(name).to_numpy() for name in names]
        new = np.zeros(len(batch), np.bool_)
        new[0] = True
        for column in columns:
            new[1:] |= column[1:] != column[:-1]
        starts = np.flatnonzero(new)
        for start, stop in zip(starts, np.append(starts[1:], len(batch)), strict=True):
            cell = tuple(int(column[start]) for column in columns)
            if current is not None and cell != current:
                yield _cell(current, held)
                held = []
            current = cell
            held.append(batch.slice(int(start), int(stop - start)))
    if current is not None:
        yield _cell(current, held)


def _cell(
    cell: tuple[int, ...], held: list[pa.RecordBatch]
) -> tuple[int, int, Rows, NDArray[np.int32], NDArray[np.uint8]]:
    whole = pa.Table.from_batches(held).combine_chunks().to_batches()[0]
    rows = Rows(
        whole.column("band").to_numpy(),
        whole.column("key").to_numpy(),
        fixed_of(whole.column("node"), np.uint8),
        whole.column("a_bytes").to_numpy(),
        fixed_of(whole.column("check"), np.uint8),
    )
    home = fixed_of(whole.column("home").slice(0, 1), np.uint8)[0]
    return cell[2], cell[3], rows, whole.column("block").to_numpy(), home


def _near(
    recipe: Recipe, rows: Rows, one: NDArray[np.int64], other: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give the pairs of two blocks, or of one, whose bits are near."""
    bits, most = _bits(recipe, rows), recipe.most_differing
    within = one is other
    for start in range(0, len(one), CROSS_ROWS):
        mine = one[start : start + CROSS_ROWS]
        others = other[start + 1 :] if within else other
        differing = np.bitwise_count(bits[mine][:, None] ^ bits[others]).sum(axis=2)
        near = differing <= most
        if within:
            # Row i of these meets those after it alone.
            near &= np.arange(len(others)) >= np.arange(len(mine))[:, None]
        first, second = np.nonzero(near)
        yield mine[first], others[second]


def pair_with_centres(recipe: str, among: bool, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of the centres of each bucket and the rows after them.

    Rows come sorted by bucket, and within it in the order of preference. A centre is held until
    its bucket ends. Two centres are a pair only with `among`.
    """
    known = loaded(recipe)
    current: tuple[int, int] | None = None
    centres: Rows | None = None
    for batch in batches:
        every = _rows_of(batch)
        chosen = batch.column("centre").to_numpy(zero_copy_only=False)
        starts = _starts(every)
        for start, stop in zip(starts, np.append(starts[1:], len(chosen)), strict=True):
            rows, is_centre = every.some(slice(start, stop)), chosen[start:stop]
            bucket = int(rows.bands[0]), int(rows.keys[0])
            before = centres if bucket == current else None
            current = bucket
            held = 0 if before is None else len(before.keys)
            whole = rows if before is None else rows.after(before)
            first = np.concatenate([np.arange(held), held + np.flatnonzero(is_centre)])
            second = held + (np.arange(len(is_centre)) if among else np.flatnonzero(~is_centre))
            yield from _near_pairs(known, whole, first, second)
            centres = whole.some(first)


def _near_pairs(
    recipe: Recipe, rows: Rows, first: NDArray[np.int64], second: NDArray[np.int64]
) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of some rows and others that stand after them."""
    bits = _bits(recipe, rows)
    for start in range(0, len(first), CROSS_ROWS):
        mine = first[start : start + CROSS_ROWS]
        near = np.bitwise_count(bits[mine][:, None] ^ bits[second]).sum(axis=2)
        one, other = np.nonzero((near <= recipe.most_differing) & (mine[:, None] < second))
        a, b = _holding(recipe, rows, mine[one], second[other])
        if not len(a):
            continue
        names = numbers_of(rows.nodes)
        turned = names[a] > names[b]
        a, b = np.where(turned, b, a), np.where(turned, a, b)
        yield _pairs(rows, a, b, rows.nodes[np.where(turned, b, a)]).select(
            ["a", "b", "home", "a_bytes", "b_bytes"]
        )
