"""Signatures to band keys, and buckets to candidate pairs."""

import numpy as np

from lookalike.kernels.jit import kernel
from lookalike.kernels.mixing import GOLDEN, mix

AND, OR = 0, 1
NO_BUCKET = np.uint32(0xFFFFFFFF)
"""The bucket of a document that shares none."""


@kernel
def band_keys(signatures, rows, out):
    """Write the key of each band of each document; band j of document i is out[j, i]."""
    for i in range(len(signatures)):
        for band in range(len(out)):
            key = np.uint64(rows)
            for j in range(band * rows, (band + 1) * rows):
                key = mix(key ^ np.uint64(signatures[i, j])) + GOLDEN
            out[band, i] = key


@kernel
def stored_keys(keys, bits, out):
    """Write the band keys of documents as a store has them; band j of document i is out[i, j].

    They have so many bits, of which one is a sign, and those of different bands differ.
    """
    half = np.int64(1) << np.int64(bits - 1)
    shift = np.uint64(64 - bits)
    for band in range(len(keys)):
        step = np.uint64(band + 1) * GOLDEN
        for i in range(keys.shape[1]):
            out[i, band] = np.int64(mix(keys[band, i] + step) >> shift) - half


@kernel
def number_buckets(sorted_keys, order, empty, places, number, out, sizes):
    """Number the buckets of two documents or more of one band, from `number` on.

    `order` are the documents by their keys. Empty documents, which have no shingles, are in none.
    The bucket of each document that has one is written at its place in `out`, which says
    NO_BUCKET of all others already, and each bucket's size; the result is how many there are.
    """
    found = 0
    start = 0
    while start < len(sorted_keys):
        end = start + 1
        while end < len(sorted_keys) and sorted_keys[end] == sorted_keys[start]:
            end += 1
        if end - start > 1:
            size = 0
            for i in range(start, end):
                size += not empty[order[i]]
            if size > 1:
                for i in range(start, end):
                    if not empty[order[i]]:
                        out[places[order[i]]] = np.uint32(number + found)
                sizes[found] = size
                found += 1
        start = end
    return found


@kernel
def next_candidates(
    buckets, base, alive, least, insert, starts, fill, slots, marks, stamp, state, first, second
):
    """Write the next candidates of a stretch of documents, as many as there is room for.

    Document i of the stretch stands at place `base + i` and in bucket `buckets[band, i]`, or alone.
    It meets every member of its buckets at a place from `least` on, each once; with `insert` it
    then becomes a member itself. Members stand in a bucket in the order of their places. Who was
    met is marked with a stamp of the document's own, from `stamp` on.
    `state` holds the document, the band and the members already visited from which to go on; the
    document is past the last one at the end. The result is the number of candidates written.
    """
    i, band, visited = state[0], state[1], state[2]
    written = 0
    while i < len(alive):
        if alive[i]:
            mine = base + i
            mark = np.uint32(stamp + i)
            while band < len(buckets):
                bucket = buckets[band, i]
                if bucket != NO_BUCKET:
                    end = starts[bucket] + fill[bucket]
                    while visited < fill[bucket]:
                        other = slots[end - 1 - visited]
                        if other < least:
                            break
                        if written == len(first):
                            state[0], state[1], state[2] = i, band, visited
                            return written
                        visited += 1
                        if marks[other] != mark:
                            marks[other] = mark
                            first[written] = other
                            second[written] = mine
                            written += 1
                band += 1
                visited = 0
            if insert:
                for b in range(len(buckets)):
                    bucket = buckets[b, i]
                    if bucket != NO_BUCKET:
                        slots[starts[bucket] + fill[bucket]] = mine
                        fill[bucket] += 1
        i += 1
        band, visited = 0, 0
    state[0], state[1], state[2] = i, 0, 0
    return written


@kernel
def insert_members(buckets, base, chosen, starts, fill, slots):
    """Make some documents of a stretch members of their buckets."""
    for i in range(len(chosen)):
        if chosen[i]:
            for band in range(len(buckets)):
                bucket = buckets[band, i]
                if bucket != NO_BUCKET:
                    slots[starts[bucket] + fill[bucket]] = base + i
                    fill[bucket] += 1


@kernel
def remove_members(buckets, base, starts, fill, slots):
    """Take all documents of a stretch, and any at later places, out of their buckets."""
    for i in range(buckets.shape[1]):
        for band in range(len(buckets)):
            bucket = buckets[band, i]
            if bucket != NO_BUCKET:
                while fill[bucket] > 0 and slots[starts[bucket] + fill[bucket] - 1] >= base:
                    fill[bucket] -= 1


@kernel
def holds(keys, first, second, operations, sizes, out):
    """Evaluate a cascade on the equality of each pair's keys, from the bands upward."""
    values = np.empty(len(keys), np.bool_)
    for pair in range(len(first)):
        count = len(keys)
        for j in range(count):
            values[j] = keys[j, first[pair]] == keys[j, second[pair]]
        for step in range(len(operations)):
            size = sizes[step]
            count //= size
            for group in range(count):
                value = operations[step] == AND
                for j in range(group * size, (group + 1) * size):
                    if operations[step] == AND:
                        value = value and values[j]
                    else:
                        value = value or values[j]
                values[group] = value
        out[pair] = values[0]
