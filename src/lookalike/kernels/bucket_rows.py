"""Rows of buckets laid out by slice, as they are packed to travel between tasks."""

import numpy as np

from lookalike.kernels.jit import inner, kernel
from lookalike.kernels.mixing import GOLDEN


@inner
def _slice_of(key, band, slices):
    return np.int64(((key + np.uint64(band)) * GOLDEN >> np.uint64(32)) % np.uint64(slices))


@kernel
def count_by_slice(bands, keys, counts):
    """Count the rows of each slice: one for each band of each document."""
    slices = len(counts)
    for document in range(keys.shape[0]):
        for place in range(keys.shape[1]):
            counts[_slice_of(keys[document, place], bands[document, place], slices)] += 1


@kernel
def lay_out(bands, keys, nodes, sizes, checks, starts, out):
    """Write the row of each band of each document after those of its slice that stand before it.

    A row is words of 32 bits: band, key, name, size and check, of 1, 2, 4, 2 and any number of
    words. `starts` has the next row of each slice, and goes on with them.
    """
    slices = len(starts)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for document in range(keys.shape[0]):
        size = np.uint64(sizes[document])
        for place in range(keys.shape[1]):
            key = keys[document, place]
            chosen = _slice_of(key, bands[document, place], slices)
            row = starts[chosen]
            starts[chosen] = row + 1
            out[row, 0] = np.uint32(bands[document, place])
            out[row, 1] = np.uint32(key & low)
            out[row, 2] = np.uint32(key >> half)
            for word in range(4):
                out[row, 3 + word] = nodes[document, word]
            out[row, 7] = np.uint32(size & low)
            out[row, 8] = np.uint32(size >> half)
            for word in range(checks.shape[1]):
                out[row, 9 + word] = checks[document, word]
