"""In how many documents a shingle stands, and which passages the frequent ones make.

Hashes of documents stand one after the other, as `list_shingles` writes them. A count is the lower
half of a word whose upper half is the number of the last document counted, so that each document
counts once without a sort; documents are numbered from 1, and 0 is a word not used yet.
"""

import numpy as np

from lookalike.kernels.jit import inner, kernel
from lookalike.kernels.mixing import GOLDEN

_HALF = np.uint64(32)
_ONE = np.uint64(1)


@inner
def _counted(word, document):
    """Give the word with one document more, unless that was counted already."""
    if word >> _HALF == document:
        return word
    return (document << _HALF) | ((word & np.uint64(0xFFFFFFFF)) + _ONE)


@kernel
def count_slots(hashes, offsets, before, slots):
    """Count the documents in two slots of each hash: one of its lower bits, one of its upper.

    `slots` has a row of a power of two for each; `before` is the documents counted already.
    """
    last = np.uint64(slots.shape[1] - 1)
    for i in range(len(offsets) - 1):
        document = np.uint64(before + i + 1)
        for at in range(offsets[i], offsets[i + 1]):
            lower = hashes[at] & last
            upper = hashes[at] >> _HALF & last
            slots[0, lower] = _counted(slots[0, lower], document)
            slots[1, upper] = _counted(slots[1, upper], document)


@kernel
def keep_passing(hashes, offsets, passing, lowest):
    """Keep the hashes from `lowest` up of which both slots pass, in place; the offsets follow."""
    last = np.uint64(passing.shape[1] - 1)
    kept = 0
    start = offsets[0]
    for i in range(len(offsets) - 1):
        for at in range(start, offsets[i + 1]):
            value = hashes[at]
            hashes[kept] = value
            kept += (
                passing[0, value & last] and passing[1, value >> _HALF & last] and value >= lowest
            )
        start = offsets[i + 1]
        offsets[i + 1] = kept


@inner
def _slot(key, keys, used):
    """Give the slot of a key: where it is, or the free one where it belongs."""
    last = np.uint64(len(keys) - 1)
    # The keys of links are no hashes, and crowd without the factor.
    slot = (key * GOLDEN >> _HALF) & last
    while used[slot] != 0 and keys[slot] != key:
        slot = (slot + _ONE) & last
    return slot


@kernel
def count_documents(values, offsets, first, before, highest, keys, counts, filled):
    """Count the documents of each value up to `highest`, from the document `first` on.

    Stops before a document for which the table might become too full. Gives the next document and
    the number of keys.
    """
    for i in range(first, len(offsets) - 1):
        if 4 * (filled + offsets[i + 1] - offsets[i]) > 3 * len(keys):
            return i, filled
        document = np.uint64(before + i + 1)
        for at in range(offsets[i], offsets[i + 1]):
            if values[at] <= highest:
                slot = _slot(values[at], keys, counts)
                filled += counts[slot] == 0
                keys[slot] = values[at]
                counts[slot] = _counted(counts[slot], document)
    return len(offsets) - 1, filled


@kernel
def rehash(keys, counts, highest, new_keys, new_counts):
    """Enter the keys up to `highest` in a new table with their counts, and give their number."""
    moved = 0
    for at in range(len(keys)):
        if counts[at] != 0 and keys[at] <= highest:
            slot = _slot(keys[at], new_keys, new_counts)
            new_keys[slot] = keys[at]
            new_counts[slot] = counts[at]
            moved += 1
    return moved


@kernel
def insert_hashes(hashes, keys, numbers):
    """Enter hashes, each once, in an empty table, with their places counted from 1."""
    for at in range(len(hashes)):
        slot = _slot(hashes[at], keys, numbers)
        keys[slot] = hashes[at]
        numbers[slot] = np.uint64(at + 1)


@kernel
def find_hashes(hashes, keys, numbers, out):
    """Write the place of each hash among those entered, or -1."""
    for at in range(len(hashes)):
        out[at] = np.int64(numbers[_slot(hashes[at], keys, numbers)]) - 1


@kernel
def link_neighbours(found, offsets, out, out_offsets):
    """Write the places of each two different neighbours that were both found, in one word."""
    written = 0
    for i in range(len(offsets) - 1):
        for at in range(offsets[i] + 1, offsets[i + 1]):
            if found[at - 1] >= 0 and found[at] >= 0 and found[at - 1] != found[at]:
                out[written] = np.uint64(found[at - 1]) << _HALF | np.uint64(found[at])
                written += 1
        out_offsets[i + 1] = written


@inner
def _better(length, fingerprint, best_length, best):
    if length != best_length:
        return length > best_length
    if fingerprint[0] != best[0]:
        return fingerprint[0] < best[0]
    return fingerprint[1] < best[1]


@kernel
def count_chains(
    found,
    offsets,
    fingerprints,
    chains,
    steps,
    sizes,
    seen,
    matched,
    documents,
    lengths,
    starts,
    best,
):
    """Count the documents that hold three quarters of a chain, and note where most of it stands.

    Chain `chains[j]` has the shingle j as its step `steps[j]`, of `sizes`. `lengths` are the most
    steps in a row, `starts` where they start in the text and `best` the document's fingerprint, the
    smallest of several. `seen` and `matched` are room, 0 for each shingle and each chain.
    """
    for i in range(len(offsets) - 1):
        run = 0
        for at in range(offsets[i], offsets[i + 1]):
            shingle = found[at]
            if shingle < 0:
                run = 0
                continue
            chain = chains[shingle]
            follows = (
                run > 0
                and chains[found[at - 1]] == chain
                and steps[found[at - 1]] + 1 == steps[shingle]
            )
            run = run + 1 if follows else 1
            if _better(run, fingerprints[i], lengths[chain], best[chain]):
                lengths[chain] = run
                starts[chain] = at - offsets[i] - run + 1
                best[chain, 0] = fingerprints[i, 0]
                best[chain, 1] = fingerprints[i, 1]
            if seen[shingle] != i + 1:
                seen[shingle] = i + 1
                matched[chain] += 1
        for at in range(offsets[i], offsets[i + 1]):
            if found[at] >= 0:
                chain = chains[found[at]]
                documents[chain] += 4 * matched[chain] >= 3 * sizes[chain]
                matched[chain] = 0
