"""How much two sets, or two signatures, share."""

import numpy as np

from lookalike.kernels.jit import kernel


@kernel
def shared(elements, offsets, first, second, least, out):
    """Count the elements that the sets of each pair share, or write -1.

    -1 says that the similarity is below `least`, which is then certain before the count is done.
    """
    for pair in range(len(first)):
        a = elements[offsets[first[pair]] : offsets[first[pair] + 1]]
        b = elements[offsets[second[pair]] : offsets[second[pair] + 1]]
        # shared / (|a| + |b| - shared) >= least; one less, for the rounding of the product.
        needed = np.int64(np.ceil(least / (1.0 + least) * (len(a) + len(b)))) - 1
        count = 0
        i = 0
        j = 0
        while i < len(a) and j < len(b):
            if count + min(len(a) - i, len(b) - j) < needed:
                count = -1
                break
            # A block between two looks at the bound, so that the merge itself has no branches.
            for _ in range(64):
                if i >= len(a) or j >= len(b):
                    break
                x = a[i]
                y = b[j]
                count += x == y
                i += x <= y
                j += y <= x
        out[pair] = count


@kernel
def cut(first, second, weights, most, marks, ends):
    """Cut pairs into stretches whose members weigh at most so much, each counted once a stretch.

    Writes the end of each stretch and gives their number; a stretch has one pair at the least.
    `marks` is zero for each member.
    """
    found = 0
    weight = 0
    for pair in range(len(first)):
        stretch = np.uint32(found + 1)
        a, b = first[pair], second[pair]
        more = 0
        if marks[a] != stretch:
            more += weights[a]
        if marks[b] != stretch and b != a:
            more += weights[b]
        if weight + more > most and weight > 0:
            ends[found] = pair
            found += 1
            stretch = np.uint32(found + 1)
            weight = 0
            more = weights[a] + (weights[b] if b != a else 0)
        marks[a] = stretch
        marks[b] = stretch
        weight += more
    if len(first) > 0:
        ends[found] = len(first)
        found += 1
    return found


@kernel
def agreeing(signatures, first, second, out):
    """Count the rows in which the signatures of each pair agree."""
    for pair in range(len(first)):
        a = signatures[first[pair]]
        b = signatures[second[pair]]
        count = 0
        for i in range(len(a)):
            count += a[i] == b[i]
        out[pair] = count
