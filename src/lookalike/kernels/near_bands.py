"""Documents that share a key, and those of them whose sketches are near."""

import numpy as np

from lookalike.kernels.jit import kernel, ones


def mark_words(documents: int) -> int:
    """Tell how many words of marks serve so many documents: sixteen bits or more for each."""
    words = 1
    while 4 * words < documents:
        words *= 2
    return words


@kernel
def may_share_key(keys, empty, marks, out):
    """Write the documents that may share a key with another, in order, and give their number.

    `marks` are two bits for each of some places, all 0, where keys are seen once and seen again.
    All that share a key are written, and few others; empty documents are not.
    """
    seen, again = marks[0], marks[1]
    last = np.uint64(64 * len(seen) - 1)
    six, within = np.uint64(6), np.uint64(63)
    for i in range(len(keys)):
        if not empty[i]:
            place = (keys[i] ^ (keys[i] >> np.uint64(29))) & last
            bit = np.uint64(1) << (place & within)
            word = place >> six
            again[word] |= seen[word] & bit
            seen[word] |= bit
    found = 0
    for i in range(len(keys)):
        place = (keys[i] ^ (keys[i] >> np.uint64(29))) & last
        out[found] = np.uint32(i)
        found += (again[place >> six] >> (place & within) & np.uint64(1)) != 0 and not empty[i]
    return found


@kernel
def order_by_key(keys, bits, order, sorted_keys, scratch_order, scratch_keys):
    """Sort some documents, given in order, by the lowest bits of their keys.

    Equal ones stay in order. Eleven bits at a time, from the lowest.
    """
    histogram = np.empty(2049, np.int64)
    count = len(order)
    for i in range(count):
        sorted_keys[i] = keys[order[i]]
    shift = 0
    while shift < bits:
        for j in range(len(histogram)):
            histogram[j] = 0
        for i in range(count):
            histogram[np.int64(sorted_keys[i] >> np.uint64(shift) & np.uint64(2047)) + 1] += 1
        for j in range(2048):
            histogram[j + 1] += histogram[j]
        for i in range(count):
            digit = np.int64(sorted_keys[i] >> np.uint64(shift) & np.uint64(2047))
            at = histogram[digit]
            histogram[digit] += 1
            scratch_keys[at] = sorted_keys[i]
            scratch_order[at] = order[i]
        for i in range(count):
            sorted_keys[i] = scratch_keys[i]
            order[i] = scratch_order[i]
        shift += 11


@kernel
def gather(sketches, order, out):
    """Copy sketches in an order."""
    for i in range(len(order)):
        mine = sketches[order[i]]
        for word in range(out.shape[1]):
            out[i, word] = mine[word]


@kernel
def near_in_buckets(sorted_keys, order, empty, sketches, max_differing, state, out):
    """Write the pairs in each bucket of one band whose sketches differ in at most so many bits.

    A pair is one word, the smaller document in its upper half. `sketches` stand in the order of
    the keys. `state` holds the document and the one after it from which to go on, and the pairs
    compared so far; the first is past the last document at the end. The result is the number
    written.
    """
    i, j, compared = state[0], state[1], state[2]
    written = 0
    words = sketches.shape[1]
    while i < len(order):
        if not empty[order[i]]:
            mine = sketches[i]
            while j < len(order) and sorted_keys[j] == sorted_keys[i]:
                if not empty[order[j]]:
                    if written == len(out):
                        state[0], state[1], state[2] = i, j, compared
                        return written
                    compared += 1
                    count = 0
                    for word in range(words):
                        count += ones(mine[word] ^ sketches[j, word])
                    if count <= max_differing:
                        a = np.uint64(min(order[i], order[j]))
                        b = np.uint64(max(order[i], order[j]))
                        out[written] = a << np.uint64(32) | b
                        written += 1
                j += 1
        i += 1
        j = i + 1
    state[0], state[1], state[2] = i, j, compared
    return written
