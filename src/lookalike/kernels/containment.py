"""Which sets lie inside which: an index of their rarest elements, and what two sets share."""

import numpy as np

from lookalike.kernels.jit import inner, kernel, multiply_high

MAX_COUNT = 0xFFFF
"""How often an element is counted at the most: a counter stays there."""


@kernel
def count_elements(elements, counters):
    """Count each element where its hash puts it; others may be counted there as well."""
    slots = np.uint64(len(counters))
    for i in range(len(elements)):
        at = np.int64(multiply_high(elements[i], slots))
        if counters[at] < MAX_COUNT:
            counters[at] += 1


@inner
def _fewest(size, threshold):
    """Give the smallest whole number whose share of `size` reaches a threshold above 0."""
    # The product may round to either side; the division is the one that is promised.
    least = np.int64(np.ceil(threshold * size))
    while least > 1 and (least - 1) / size >= threshold:
        least -= 1
    while least / size < threshold:
        least += 1
    return least


@kernel
def rarest(elements, offsets, counters, threshold, extra, out, out_offsets, needed, required):
    """Write the elements of each set of which any set that contains it holds some.

    A set that holds `needed` of n elements misses at most n - needed of them, so that it has at
    least `required` of any n - needed + required. Those counted least are taken, the smaller
    element first where counts are equal. An element that was counted once stands in no other set
    and is not written; where too few are left, nothing contains the set, and none is.

    `required` is `extra` and an eighth of what may be missed, as far as that is not above `needed`:
    the more there are, the fewer sets have so many by chance, and the more must be looked up.
    """
    slots = np.uint64(len(counters))
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    counts = np.empty(longest, np.int64)
    histogram = np.zeros(MAX_COUNT + 1, np.int64)
    commonest = 0
    written = np.int64(0)
    for i in range(len(offsets) - 1):
        mine = elements[offsets[i] : offsets[i + 1]]
        needed[i] = required[i] = 0
        out_offsets[i + 1] = written
        if len(mine) == 0:
            continue
        needed[i] = _fewest(len(mine), threshold)
        missed = len(mine) - needed[i]
        required[i] = min(needed[i], extra + missed // 8)
        # A loop of its own: counts that wait for a far counter would hold up the next counter.
        for j in range(len(mine)):
            counts[j] = counters[np.int64(multiply_high(mine[j], slots))]
        last = MAX_COUNT
        for j in range(len(mine)):
            histogram[counts[j]] += 1
            last = min(last, counts[j])
        left = missed + required[i]
        while histogram[last] < left:
            left -= histogram[last]
            last += 1
        # Below `last` all are taken, at it the first `left`.
        start = written
        for j in range(len(mine)):
            histogram[counts[j]] = 0
            if counts[j] > last:
                continue
            if counts[j] == last:
                if left == 0:
                    continue
                left -= 1
            if counts[j] > 1:
                out[written] = mine[j]
                written += 1
        if written - start < required[i]:
            written = start
        else:
            commonest = max(commonest, last)
        out_offsets[i + 1] = written
    return commonest


@kernel
def set_owners(elements, counts, bits):
    """Put the place of its owner into the lowest bits of each element; `counts` each one has."""
    at = 0
    for owner in range(len(counts)):
        for _ in range(counts[owner]):
            elements[at] = elements[at] >> bits << bits | np.uint64(owner)
            at += 1


@kernel
def directory(entries, bits, starts, marks):
    """Write where the entries of each bucket start, and a mark for each in a table of bits.

    The entries are sorted; the lowest `bits` of each are its owner. The marks, 64 a word, are all 0
    before: most elements that are looked up have none, and the table is small.
    """
    buckets = np.uint64(len(starts) - 1)
    slots = np.uint64(64 * len(marks))
    filled = 0
    for i in range(len(entries)):
        key = entries[i] >> bits << bits
        slot = multiply_high(key, slots)
        marks[np.int64(slot >> np.uint64(6))] |= np.uint64(1) << (slot & np.uint64(63))
        bucket = np.int64(multiply_high(key, buckets))
        while filled <= bucket:
            starts[filled] = i
            filled += 1
    while filled < len(starts):
        starts[filled] = len(entries)
        filled += 1


@kernel
def look_up(
    elements,
    offsets,
    rows,
    start,
    entries,
    bits,
    starts,
    marks,
    owners,
    needed,
    required,
    hits,
    hit_owners,
    keys,
    places,
    out_inner,
    out_outer,
):
    """Write which of the indexed sets each set may contain, until there is no room for one more.

    `hits`, all 0 before and after, counts the entries of each owner that a set holds; `hit_owners`
    lists those. `keys` and `places`, with room for one more than the largest set has, list the
    elements that bear a mark and where their search begins. The result is the number written and
    the set to go on with.
    """
    buckets = np.uint64(len(starts) - 1)
    slots = np.uint64(64 * len(marks))
    mask = (np.uint64(1) << bits) - np.uint64(1)
    place = start
    written = 0
    while place < len(rows) and written + len(owners) <= len(out_inner):
        size = offsets[place + 1] - offsets[place]
        marked = np.int64(0)
        for at in range(offsets[place], offsets[place + 1]):
            key = elements[at] >> bits << bits
            slot = multiply_high(key, slots)
            keys[marked] = key
            marked += np.int64(
                marks[np.int64(slot >> np.uint64(6))] >> (slot & np.uint64(63)) & np.uint64(1)
            )
        # The first step of each search, without a branch, so that far entries arrive together.
        for at in range(marked):
            bucket = np.int64(multiply_high(keys[at], buckets))
            low = starts[bucket]
            before = entries[min(low, len(entries) - 1)] < keys[at]
            places[at] = low + (low < starts[bucket + 1] and before)
        count = 0
        for at in range(marked):
            key = keys[at]
            low, end = places[at], starts[np.int64(multiply_high(key, buckets)) + 1]
            high = end
            while low < high:
                middle = (low + high) // 2
                if entries[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            while low < end and entries[low] >> bits << bits == key:
                owner = np.int64(entries[low] & mask)
                if hits[owner] == 0:
                    hit_owners[count] = owner
                    count += 1
                hits[owner] += 1
                low += 1
        for i in range(count):
            owner = hit_owners[i]
            enough = hits[owner] >= required[owner] and size >= needed[owner]
            hits[owner] = 0
            if enough and owners[owner] != rows[place]:
                out_inner[written] = owner
                out_outer[written] = place
                written += 1
        place += 1
    return written, place


@kernel
def shared(
    inner_elements,
    inner_offsets,
    inner,
    outer_elements,
    outer_offsets,
    outer,
    needed,
    out,
):
    """Count what the sets of each pair share, or write -1 where that is below what is needed."""
    for pair in range(len(inner)):
        a = inner_elements[inner_offsets[inner[pair]] : inner_offsets[inner[pair] + 1]]
        b = outer_elements[outer_offsets[outer[pair]] : outer_offsets[outer[pair] + 1]]
        may_miss = len(a) - needed[pair]
        count = 0
        i = 0
        j = 0
        if len(b) > 16 * len(a):
            # A quotation in a book: each of its elements is searched for, in ever wider steps.
            while i < len(a) and i - count <= may_miss:
                step = 1
                while j + step < len(b) and b[j + step] < a[i]:
                    j += step
                    step *= 2
                high = min(j + step, len(b))
                while j < high:
                    middle = (j + high) // 2
                    if b[middle] < a[i]:
                        j = middle + 1
                    else:
                        high = middle
                count += j < len(b) and b[j] == a[i]
                i += 1
        else:
            while i < len(a) and j < len(b) and i - count <= may_miss:
                # A block between two looks at the bound, so that the merge itself has no branches.
                for _ in range(64):
                    if i >= len(a) or j >= len(b):
                        break
                    x = a[i]
                    y = b[j]
                    count += x == y
                    i += x <= y
                    j += y <= x
        out[pair] = count if count >= needed[pair] else -1
