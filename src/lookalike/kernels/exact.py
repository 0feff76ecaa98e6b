"""Every pair of sets whose Jaccard similarity can reach a threshold, by an inverted index."""

import numpy as np

from lookalike.kernels.jit import kernel


@kernel
def join(
    ranks, offsets, order, threshold, newest, older, members, marks, state, out_first, out_second
):
    """Write candidates for the sets in `order`, smallest first, until no room is left for one set.

    Sets hold ranks, rarest element first. Two sets of similarity t or more share an element among
    the first |x| - t|x| + 1 of the larger and the first |y| - 2t/(1+t)|y| + 1 of the smaller, so
    that only those are looked up and kept. `newest[rank]` is the latest entry of an element,
    `older[entry]` the one before it, `members[entry]` its set: latest first is largest first.
    `state` holds the place in `order` and the number of entries; the result is the number written.
    """
    # Bounds are taken a little low, for the rounding of products; the exact check has the word.
    safe = threshold * (1.0 - 1e-12)
    place, entries = state[0], state[1]
    written = 0
    while place < len(order) and written + place <= len(out_first):
        mine = order[place]
        start = offsets[mine]
        size = offsets[mine + 1] - start
        least = max(np.int64(np.ceil(safe * size - 1e-9)), 1)
        for at in range(start, start + size - least + 1):
            entry = newest[ranks[at]]
            while entry >= 0:
                other = members[entry]
                if offsets[other + 1] - offsets[other] < least:
                    break
                if marks[other] != place:
                    marks[other] = place
                    out_first[written] = min(mine, other)
                    out_second[written] = max(mine, other)
                    written += 1
                entry = older[entry]
        shared = max(np.int64(np.ceil(2.0 * safe / (1.0 + safe) * size - 1e-9)), 1)
        for at in range(start, start + size - shared + 1):
            older[entries] = newest[ranks[at]]
            members[entries] = mine
            newest[ranks[at]] = entries
            entries += 1
        place += 1
    state[0], state[1] = place, entries
    return written
