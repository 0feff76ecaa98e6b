"""How many elements every two of a few sorted sets share.

The elements are taken in stretches of neighbouring values, which stand together in every set: the
table of those of one stretch stays in the cache of a core.
"""

import numpy as np

from lookalike.kernels.jit import inner, kernel
from lookalike.kernels.mixing import GOLDEN

_ONE = np.uint64(1)


@kernel
def largest_stretch(elements, offsets, bounds):
    """Give the most elements, of all sets, that are above one bound and not above the next."""
    counts = np.zeros(len(bounds) + 1, np.int64)
    for i in range(len(offsets) - 1):
        stretch = 0
        for at in range(offsets[i], offsets[i + 1]):
            while stretch < len(bounds) and elements[at] > bounds[stretch]:
                stretch += 1
            counts[stretch] += 1
    return counts.max()


@inner
def _slot(element, keys, newest, shift):
    """Give the slot of an element in a table that is not full: its own, or a free one."""
    slot = (element * GOLDEN) >> shift
    while newest[slot] >= 0 and keys[slot] != element:
        slot += _ONE
        if slot == np.uint64(len(keys)):
            slot = np.uint64(0)
    return slot


@kernel
def shared_counts(elements, offsets, bounds, keys, newest, members, older, shift, out):
    """Count the elements that every two sets share, above the diagonal of `out`.

    `keys` and `newest` have 2^(64 - shift) slots, more than a stretch has elements; `newest`, all
    -1 at first, is the latest entry of an element. `members[entry]` is the set of an entry,
    `older[entry]` the entry of the same element before it; both have room for a stretch.
    """
    places = offsets[:-1].copy()
    for stretch in range(len(bounds) + 1):
        entries = 0
        for i in range(len(places)):
            at = places[i]
            while at < offsets[i + 1]:
                element = elements[at]
                if stretch < len(bounds) and element > bounds[stretch]:
                    break
                slot = _slot(element, keys, newest, shift)
                entry = newest[slot]
                keys[slot] = element
                newest[slot] = entries
                members[entries] = i
                older[entries] = entry
                entries += 1
                while entry >= 0:
                    out[members[entry], i] += 1
                    entry = older[entry]
                at += 1
            places[i] = at
        newest[:] = -1
