"""The shingles of a document to the set, the multiset or the weighted set that they make."""

import numpy as np

from lookalike.kernels.jit import inner, kernel
from lookalike.kernels.mixing import GOLDEN, mix
from lookalike.kernels.shingles import ANY_ORDER, shingles
from lookalike.kernels.words import bytes_hash

MAX_BITS = 12
"""Bits that one scatter sorts by, at the most."""
HISTOGRAM_SLOTS = 2 * ((1 << MAX_BITS) + 1)

_ONE = np.uint64(1)
_MAX_MOVES = 16


@inner
def _radix_sort(values, count, scratch):
    """Sort by one byte at a time, from the lowest; the result is in `values`."""
    histogram = np.empty(257, np.int64)
    for byte in range(8):
        shift = np.uint64(8 * byte)
        for j in range(257):
            histogram[j] = 0
        for j in range(count):
            histogram[np.int64(values[j] >> shift & np.uint64(0xFF)) + 1] += 1
        for j in range(256):
            histogram[j + 1] += histogram[j]
        for j in range(count):
            digit = np.int64(values[j] >> shift & np.uint64(0xFF))
            scratch[histogram[digit]] = values[j]
            histogram[digit] += 1
        for j in range(count):
            values[j] = scratch[j]


@inner
def _sort(values, count, scratch, histogram):
    """Sort hashes in place, in time that grows with their number alone.

    They are spread evenly, so that two scatters, by the lower and the upper half of some
    more upper bits than number them, leave nearly each in its place, and an insertion sort does the
    rest. Where malice has crowded them, so that this would take long, all their bits are sorted by.
    """
    if count < 2:
        return
    half = 1
    while (1 << 2 * half) < 8 * count and half < MAX_BITS:
        half += 1
    high = np.uint64(64 - half)
    low = np.uint64(64 - 2 * half)
    mask = np.uint64((1 << half) - 1)
    # Tallies of the lower half, and after them those of the upper.
    size = 1 << half
    above = np.uint64(size + 1)
    for j in range(2 * size + 2):
        histogram[j] = 0
    for j in range(count):
        histogram[(values[j] >> low & mask) + _ONE] += 1
        histogram[(values[j] >> high) + _ONE + above] += 1
    for j in range(size):
        histogram[j + 1] += histogram[j]
        histogram[size + 2 + j] += histogram[size + 1 + j]
    for j in range(count):
        value = values[j]
        digit = value >> low & mask
        scratch[histogram[digit]] = value
        histogram[digit] += 1
    for j in range(count):
        value = scratch[j]
        digit = (value >> high) + above
        values[histogram[digit]] = value
        histogram[digit] += 1
    moved = 0
    for j in range(1, count):
        value = values[j]
        i = j
        while i > 0 and values[i - 1] > value:
            values[i] = values[i - 1]
            i -= 1
        values[i] = value
        moved += j - i
        if moved > _MAX_MOVES * count:
            _radix_sort(values, count, scratch)
            return


@inner
def _number_repeats(values, count):
    """Make each repeat of a hash, among sorted ones, an element of its own."""
    occurrence = np.uint64(0)
    shingle = values[0]
    for j in range(1, count):
        if values[j] == shingle:
            occurrence += _ONE
            values[j] = mix(shingle + occurrence * GOLDEN)
        else:
            shingle = values[j]
            occurrence = np.uint64(0)


@kernel
def token_sets(data, places, ends, multiset, capacity, out, out_offsets):
    """Write each document's token hashes, sorted, as little-endian words; distinct in a set.

    Token j is the bytes from `places[j]` to `places[j + 1]`; document i has the tokens up to
    `ends[i]` that none before it has, `capacity` at the most.
    """
    values = np.empty(capacity, np.uint64)
    scratch = np.empty(capacity, np.uint64)
    histogram = np.empty(HISTOGRAM_SLOTS, np.int64)
    token = np.int64(0)
    at = np.int64(0)
    for i in range(len(ends)):
        count = ends[i] - token
        for j in range(count):
            values[j] = mix(
                bytes_hash(data, np.uint64(places[token]), np.uint64(places[token + 1]))
            )
            token += 1
        _sort(values, count, scratch, histogram)
        for j in range(count):
            if multiset or j == 0 or values[j] != values[j - 1]:
                for byte in range(8):
                    out[at + byte] = values[j] >> np.uint64(8 * byte) & np.uint64(0xFF)
                at += 8
        out_offsets[i + 1] = at


@kernel
def element_sets(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    table,
    ignored,
    multiset,
    capacity,
    out,
    out_offsets,
):
    """Write the sorted, distinct elements of the chosen documents one after the other."""
    digits = np.empty(capacity, np.uint64)
    values = np.empty(capacity, np.uint64)
    histogram = np.empty(HISTOGRAM_SLOTS, np.int64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, ANY_ORDER, digits, values
        )
        # The digits have done their work; the sort takes their room.
        _sort(values, count, digits, histogram)
        if multiset:
            _number_repeats(values, count)
            _sort(values, count, digits, histogram)
        at = out_offsets[i]
        for j in range(count):
            if j == 0 or values[j] != values[j - 1]:
                out[at] = values[j]
                at += 1
        out_offsets[i + 1] = at


@kernel
def weighted_sets(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    table,
    ignored,
    capacity,
    out,
    out_counts,
    out_offsets,
):
    """Write the sorted, distinct shingles of the chosen documents, and how often each occurs."""
    digits = np.empty(capacity, np.uint64)
    values = np.empty(capacity, np.uint64)
    histogram = np.empty(HISTOGRAM_SLOTS, np.int64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, ANY_ORDER, digits, values
        )
        _sort(values, count, digits, histogram)
        at = out_offsets[i] - 1
        for j in range(count):
            if j == 0 or values[j] != values[j - 1]:
                at += 1
                out[at] = values[j]
                out_counts[at] = 1.0
            else:
                out_counts[at] += 1.0
        out_offsets[i + 1] = at + 1
