"""Signatures to band keys, and buckets to candidate pairs."""

import numpy as np

from lookalike.kernels.jit import kernel

AND, OR = 0, 1

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def _mix(x):
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def band_keys(signatures, rows, out):
    """Write the key of each band of each document; band j of document i is out[j, i]."""
    for i in range(len(signatures)):
        for band in range(len(out)):
            key = np.uint64(rows)
            for j in range(band * rows, (band + 1) * rows):
                key = _mix(key ^ np.uint64(signatures[i, j])) + _GOLDEN
            out[band, i] = key


@kernel
def count_pairs(sorted_keys):
    """Count the pairs of equal keys among sorted ones, and the largest run of them."""
    total = 0
    largest = 0
    start = 0
    for i in range(1, len(sorted_keys) + 1):
        if i == len(sorted_keys) or sorted_keys[i] != sorted_keys[start]:
            size = i - start
            total += size * (size - 1) // 2
            largest = max(largest, size)
            start = i
    return total, largest


@kernel
def _met_before(keys, generators, band, first, second):
    """Tell whether two documents share a bucket of an earlier generating band."""
    for earlier in range(band):
        g = generators[earlier]
        if keys[g, first] == keys[g, second]:
            return True
    return False


@kernel
def _holds(keys, first, second, operations, sizes, level_values):
    """Evaluate a cascade on the equality of two documents' keys, from the bands upward."""
    count = len(keys)
    for j in range(count):
        level_values[j] = keys[j, first] == keys[j, second]
    for step in range(len(operations)):
        size = sizes[step]
        count //= size
        for group in range(count):
            value = operations[step] == AND
            for j in range(group * size, (group + 1) * size):
                if operations[step] == AND:
                    value = value and level_values[j]
                else:
                    value = value or level_values[j]
            level_values[group] = value
    return level_values[0]


@kernel
def emit_pairs(
    keys, generators, band, order, filtered, operations, sizes, state, out_first, out_second
):
    """Write the next candidates of one band's buckets, as many as there is room for.

    `order` sorts the documents by this band's key. A pair that met in an earlier generating band is
    passed over, so that each comes once. Where the cascade has more than an OR over bands, it is
    evaluated for each pair. `state` holds the bucket's start and the two places in it from which
    to go on; the result is the number written, and the state's first is len(order) at the end.
    """
    mine = keys[generators[band]]
    start, i, j = state[0], state[1], state[2]
    level_values = np.empty(len(keys), np.bool_)
    written = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and mine[order[end]] == mine[order[start]]:
            end += 1
        if i < start:
            i, j = start, start + 1
        while i < end:
            first = order[i]
            while j < end:
                if written == len(out_first):
                    state[0], state[1], state[2] = start, i, j
                    return written
                second = order[j]
                j += 1
                if _met_before(keys, generators, band, first, second):
                    continue
                if filtered and not _holds(keys, first, second, operations, sizes, level_values):
                    continue
                out_first[written] = min(first, second)
                out_second[written] = max(first, second)
                written += 1
            i += 1
            j = i + 1
        start = end
    state[0] = len(order)
    return written
