"""Every pair of sets that share one of their rarest elements, by an inverted index."""

from lookalike.kernels.jit import kernel


@kernel
def join(
    ranks,
    offsets,
    order,
    probe_lengths,
    index_lengths,
    min_sizes,
    probed,
    kept,
    newest,
    older,
    members,
    marks,
    state,
    out_first,
    out_second,
):
    """Write candidates for the sets in `order` until no room is left for one set.

    Sets hold ranks, rarest element first. Of each set i the first `probe_lengths[i]` elements are
    looked up, and the first `index_lengths[i]` are then kept for sets to come; no set of fewer than
    `min_sizes[i]` elements is a candidate, and none that stands before such a one in the order.
    There may be several lists of sets: `probed[i]` has a bit for each in which set i is looked up,
    `kept[i]` one for each in which it is kept. `newest[list, rank]` is the latest entry of an
    element, `older[entry]` the one before it, `members[entry]` its set. `state` holds the place in
    `order` and the number of entries; the result is the number written.
    """
    place, entries = state[0], state[1]
    written = 0
    while place < len(order) and written + place <= len(out_first):
        mine = order[place]
        start = offsets[mine]
        for number in range(len(newest)):
            if not probed[mine] >> number & 1:
                continue
            for at in range(start, start + probe_lengths[mine]):
                entry = newest[number, ranks[at]]
                while entry >= 0:
                    other = members[entry]
                    if offsets[other + 1] - offsets[other] < min_sizes[mine]:
                        break
                    if marks[other] != place:
                        marks[other] = place
                        out_first[written] = min(mine, other)
                        out_second[written] = max(mine, other)
                        written += 1
                    entry = older[entry]
        for number in range(len(newest)):
            if not kept[mine] >> number & 1:
                continue
            for at in range(start, start + index_lengths[mine]):
                older[entries] = newest[number, ranks[at]]
                members[entries] = mine
                newest[number, ranks[at]] = entries
                entries += 1
        place += 1
    state[0], state[1] = place, entries
    return written
