"""Pairs of documents in buckets, on the workers: as sorted rows pass through a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.kernels import near_bands as kernels
from lookalike.spark.arrow import fixed_column, fixed_of, heads_of, numbers_of
from lookalike.spark.packing import Rows, often, unpacked
from lookalike.spark.pair_packing import PACK_PAIRS, Pairs, packed_in_slices, packed_pairs
from lookalike.spark.workers import loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import Recipe

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "BLOCK_ROWS",
    "COUNTED",
    "LARGE",
    "PAIR",
    "Limits",
    "pair_blocks",
    "pair_buckets",
    "pair_with_centres",
]

BLOCK_ROWS = 2048
"""Documents of a bucket that are paired as they come, and of a block of a larger one. So small a
bucket makes about as many pairs for a document as no job may have more of."""
CROWD_ROWS = 16
"""Documents of a bucket that are paired as they come where `dedup` would make too many pairs."""
CROWDED = 64
"""Pairs of a document in all bands, above which buckets are too full to make all of their pairs."""
PAIR, LARGE, COUNTED = range(3)
"""Kinds of what is found: a pair, a row of a large bucket, and what a band holds."""
HELD_ROWS = 1 << 20
"""Rows of a slice that are held, unless more are of small buckets: some 70 MB."""
MET = (
    "kind tinyint, band int, key bigint, node binary, bytes bigint, place bigint, home bigint, "
    "check binary"
)
MET_TYPES = {
    "band": pa.int32(),
    "key": pa.int64(),
    "node": pa.binary(),
    "bytes": pa.int64(),
    "place": pa.int64(),
    "home": pa.int64(),
    "check": pa.binary(),
}
"""Columns of what is found. Of packed pairs, `key` is the slice, and `check` holds the pairs; of
what a band holds, `key` is the pairs in its buckets, `place` the size of the largest, and `bytes`
how many near pairs its task found."""
OUT_PAIRS = 1 << 16
"""Pairs that are handed over at a time."""
CROSS_ROWS = 64
"""Documents of one block that are compared with the other at a time."""


class Limits(NamedTuple):
    """How large a bucket may be for its pairs to be made as its rows come."""

    rows: int
    crowd: int = 0
    """The same where buckets are crowded."""
    pairs: float = np.inf
    """Of a row, on the whole, above which buckets are."""

    @classmethod
    def without_crowds(cls, rows: int, recipe: Recipe) -> Limits:
        """Give the limits for a job that can do without most pairs of crowded buckets."""
        return cls(rows, min(CROWD_ROWS, rows), CROWDED / len(recipe.layout.generators))

    def of(self, sizes: NDArray[np.int64], alone: int) -> int:
        """Give the limit for buckets of these sizes, and so many of one row: those of a slice."""
        small = sizes[sizes <= self.rows]
        pairs = int((small * (small - 1) // 2).sum())
        return self.crowd if pairs > self.pairs * (int(small.sum()) + alone) else self.rows


class Found:
    """What a task found in small buckets: pairs, and how many met in each band."""

    def __init__(self, slices: int) -> None:
        """Begin with nothing; pairs are handed on in so many slices."""
        self._slices = slices
        self._bands: dict[int, tuple[int, int]] = {}
        self._pairs: list[Pairs] = []
        self._handed_on = 0

    def count(self, band: int, sizes: NDArray[np.int64]) -> None:
        """Count buckets of a band by their sizes."""
        pairs, largest = self._bands.get(band, (0, 0))
        pairs += int((sizes * (sizes - 1) // 2).sum())
        self._bands[band] = pairs, max(largest, int(sizes.max(initial=0)))

    def add(self, pairs: Pairs) -> Iterator[pa.RecordBatch]:
        """Hold near pairs, and hand them on when they are many."""
        self._pairs.append(pairs)
        if sum(len(one.homes) for one in self._pairs) >= PACK_PAIRS:
            yield self._packed()

    def _packed(self) -> pa.RecordBatch:
        self._handed_on += sum(len(one.homes) for one in self._pairs)
        slices, rows = packed_pairs(self._slices, self._pairs)
        self._pairs = []
        return _met(PAIR, len(slices), key=pa.array(slices), check=rows)

    def ended(self) -> Iterator[pa.RecordBatch]:
        """Hand on what is left, and a row for each band, the first of which counts the pairs."""
        if self._pairs:
            yield self._packed()
        bands = sorted(self._bands)
        yield _met(
            COUNTED,
            len(bands),
            band=pa.array(bands, pa.int32()),
            key=pa.array([self._bands[band][0] for band in bands], pa.int64()),
            place=pa.array([self._bands[band][1] for band in bands], pa.int64()),
            bytes=pa.array([self._handed_on, *[0] * len(bands)][: len(bands)], pa.int64()),
        )


def _met(kind: int, count: int, **columns: pa.Array) -> pa.RecordBatch:
    """Give rows of one kind, in which the other columns are null."""
    return pa.RecordBatch.from_pydict(
        {
            "kind": pa.array(np.full(count, kind, np.int8)),
            **{name: columns.get(name, pa.nulls(count, kind)) for name, kind in MET_TYPES.items()},
        }
    )


def pair_buckets(
    recipe: str, limits: Limits, slices: int, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of small buckets, the rows of large ones, and how many met.

    Packed rows come sorted by slice, and those of one slice are held. A document may come more than
    once in a bucket, and counts once if that is small. Pairs are packed in so many slices.
    """
    known = loaded(recipe)
    found = Found(slices)
    current: int | None = None
    held = Slice(known, limits)
    for batch in batches:
        places, widths = (batch.column(name).to_pylist() for name in ("slice", "width"))
        for place, width, value in zip(places, widths, batch.column("rows"), strict=True):
            if place != current and current is not None:
                yield from held.paired(found)
                held = Slice(known, limits)
            current = place
            yield from held.added(np.frombuffer(value.as_buffer(), np.uint8), width)
    yield from held.paired(found)
    yield from found.ended()


class Slice:
    """The rows of the buckets of one slice, as they come."""

    def __init__(self, recipe: Recipe, limits: Limits) -> None:
        """Hold none yet."""
        self._recipe, self._limits = recipe, limits
        self._held: list[NDArray[np.uint8]] = []
        self._width = 0
        self._rest: Rows | None = None
        """Rows of small buckets that were held when those of large ones were handed on."""
        self._most = HELD_ROWS
        self._large: dict[tuple[int, int], tuple[int, int]] = {}
        """Of each large bucket, the rows that were handed on, and its home."""

    def added(self, packed: NDArray[np.uint8], width: int) -> Iterator[pa.RecordBatch]:
        """Hold more rows. Where they become too many, those of large buckets are handed on."""
        self._held.append(packed)
        self._width = width
        rest = 0 if self._rest is None else len(self._rest.keys)
        if rest + sum(map(len, self._held)) // width <= self._most:
            return
        rows = self._every()
        large = self._is_large(rows)
        yield from self._handed_on(rows.some(np.flatnonzero(large)))
        self._held, self._rest = [], rows.some(np.flatnonzero(~large))
        # Rows of small buckets have to stay; there are about as many of them in every slice.
        self._most = max(self._most, 2 * len(self._rest.keys))

    def paired(self, found: Found) -> Iterator[pa.RecordBatch]:
        """Pair the documents of small buckets, and hand on the rows of large ones: all came."""
        if not self._held and self._rest is None:
            return
        alone = 0
        if self._rest is None:
            rows = often(self._held, self._width)
            alone = sum(map(len, self._held)) // self._width - len(rows.keys)
            rows = rows.sorted_once()
        else:
            rows = self._every()
        large = self._is_large(rows, alone)
        yield from self._handed_on(rows.some(np.flatnonzero(large)))
        small = rows if not large.any() else rows.some(np.flatnonzero(~large))
        yield from _small(self._recipe, small, found)

    def _every(self) -> Rows:
        """Give all rows that are held: those of single documents too, as more may come."""
        parts = [] if self._rest is None else [self._rest]
        parts += [unpacked(packed, self._width) for packed in self._held]
        columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return Rows(*columns).sorted_once()

    def _is_large(self, rows: Rows, alone: int = 0) -> NDArray[np.bool_]:
        """Tell of each row whether its bucket is large; so many more are alone in theirs."""
        starts = rows.starts()
        sizes = np.diff(np.append(starts, len(rows.keys)))
        large = sizes > self._limits.of(sizes, alone)
        if self._large:
            buckets = zip(rows.bands[starts].tolist(), rows.keys[starts].tolist(), strict=True)
            large |= np.fromiter((one in self._large for one in buckets), np.bool_, len(starts))
        return np.repeat(large, sizes)

    def _handed_on(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        if not len(rows.keys):
            return
        starts = rows.starts()
        for start, stop in zip(starts, np.append(starts[1:], len(rows.keys)), strict=True):
            bucket = int(rows.bands[start]), int(rows.keys[start])
            mine = rows.some(slice(int(start), int(stop)))
            before, home = self._large.get(bucket, (0, int(heads_of(mine.nodes[:1])[0])))
            self._large[bucket] = before + len(mine.keys), home
            yield _large(mine, before, home)


def _small(recipe: Recipe, rows: Rows, found: Found) -> Iterator[pa.RecordBatch]:
    """Pair the documents of small buckets."""
    if not len(rows.keys):
        return
    starts = rows.starts()
    sizes = np.diff(np.append(starts, len(rows.keys)))
    for band in np.unique(rows.bands[starts]):
        found.count(int(band), sizes[rows.bands[starts] == band])
    chosen = np.flatnonzero(np.repeat(sizes > 1, sizes))
    if not len(chosen):
        return
    buckets = np.repeat(np.arange(len(starts), dtype=np.uint64), sizes)[chosen]
    homes = np.repeat(heads_of(rows.nodes[starts]), sizes)[chosen]
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
            yield from found.add(_pairs(every, first, second, homes[first]))


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
    rows: Rows, first: NDArray[np.int64], second: NDArray[np.int64], homes: NDArray[np.int64]
) -> Pairs:
    sizes = rows.sizes
    return Pairs(rows.nodes[first], rows.nodes[second], homes, sizes[first], sizes[second])


def _large(rows: Rows, place: int, home: int) -> pa.RecordBatch:
    """Hand on rows of a large bucket, counted from a place on."""
    count = len(rows.keys)
    return _met(
        LARGE,
        count,
        band=pa.array(rows.bands),
        key=pa.array(rows.keys),
        node=fixed_column(rows.nodes),
        bytes=pa.array(rows.sizes),
        place=pa.array(np.arange(place, place + count)),
        home=pa.array(np.full(count, home)),
        check=fixed_column(rows.checks),
    )


def pair_blocks(recipe: str, slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of every two blocks of large buckets, packed by slice.

    Rows come sorted by the bucket and the two blocks; no more than these are held.
    """
    yield from packed_in_slices(slices, _of_blocks(loaded(recipe), batches))


def _of_blocks(known: Recipe, batches: Batches) -> Iterator[Pairs]:
    for left, right, rows, blocks, home in _cells(batches):
        one = np.flatnonzero(blocks == left)
        other = one if left == right else np.flatnonzero(blocks == right)
        for near in _near(known, rows, one, other):
            ends = _holding(known, rows, *near)
            # A pair has the name that sorts first for its first, as in small buckets.
            first, second = np.minimum(*ends), np.maximum(*ends)
            if len(first):
                homes = np.full(len(first), home)
                yield _pairs(rows, first, second, homes)


def _cells(
    batches: Batches,
) -> Iterator[tuple[int, int, Rows, NDArray[np.int32], int]]:
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
) -> tuple[int, int, Rows, NDArray[np.int32], int]:
    whole = pa.Table.from_batches(held).combine_chunks().to_batches()[0]
    rows = Rows(
        whole.column("band").to_numpy(),
        whole.column("key").to_numpy(),
        fixed_of(whole.column("node"), np.uint8),
        whole.column("a_bytes").to_numpy(),
        fixed_of(whole.column("check"), np.uint8),
    )
    home = int(whole.column("home")[0].as_py())
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


def pair_with_centres(
    recipe: str, among: bool, slices: int, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Give the near pairs of the centres of each bucket and the rows after them, packed by slice.

    Rows come sorted by bucket, and within it in the order of preference. A centre is held until
    its bucket ends. Two centres are a pair only with `among`.
    """
    yield from packed_in_slices(slices, _with_centres(loaded(recipe), among, batches))


def _with_centres(recipe: Recipe, among: bool, batches: Batches) -> Iterator[Pairs]:
    current: tuple[int, int] | None = None
    centres: Rows | None = None
    for batch in batches:
        every = Rows.of(batch)
        chosen = batch.column("centre").to_numpy(zero_copy_only=False)
        starts = every.starts()
        for start, stop in zip(starts, np.append(starts[1:], len(chosen)), strict=True):
            rows, is_centre = every.some(slice(start, stop)), chosen[start:stop]
            bucket = int(rows.bands[0]), int(rows.keys[0])
            before = centres if bucket == current else None
            current = bucket
            earlier = 0 if before is None else len(before.keys)
            whole = rows if before is None else rows.after(before)
            first = np.concatenate([np.arange(earlier), earlier + np.flatnonzero(is_centre)])
            second = earlier + (np.arange(len(is_centre)) if among else np.flatnonzero(~is_centre))
            yield from _near_pairs(recipe, whole, first, second)
            centres = whole.some(first)


def _near_pairs(
    recipe: Recipe, rows: Rows, first: NDArray[np.int64], second: NDArray[np.int64]
) -> Iterator[Pairs]:
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
        homes = heads_of(rows.nodes[np.where(turned, b, a)])
        yield _pairs(rows, a, b, homes)
