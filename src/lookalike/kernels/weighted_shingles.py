"""Weighted sets of 64-bit features: folded into short vectors, multiplied, voted on."""

import numpy as np

from lookalike.kernels.jit import inner, kernel
from lookalike.kernels.mixing import mix

_ONE = np.uint64(1)


@inner
def place_bits(width):
    """Tell how many bits say a place in a quarter of a power of two places."""
    bits = np.uint64(0)
    while 4 << bits < width:
        bits += _ONE
    return bits


@inner
def add_at_places(row, bits, x, weight):
    """Add a weight at four places, one in each quarter, with the sign that it has at each.

    The places are the upper bits of the word x, the signs the lowest four. Two features that meet
    do so with a quarter of their weight: one place each, and a document of two could vanish.
    """
    places = x
    begin = np.uint64(0)
    for _ in range(4):
        sign = np.float32(1) - np.float32(2) * np.float32(x & _ONE)
        row[begin + (places >> (np.uint64(64) - bits))] += sign * weight
        begin += _ONE << bits
        places <<= bits
        x >>= _ONE


@kernel
def fold(features, weights, offsets, word, out):
    """Add each weight at the places of its feature; `out` is zero and a power of two wide."""
    bits = place_bits(out.shape[1])
    for i in range(len(offsets) - 1):
        row = out[i]
        for at in range(offsets[i], offsets[i + 1]):
            add_at_places(row, bits, mix(features[at] ^ word), np.float32(weights[at]))


@kernel
def fingerprints(features, weights, offsets, out):
    """Write for each set the 64 bits that more than half of the weight of its features has."""
    sums = np.empty(64, np.float64)
    for i in range(len(offsets) - 1):
        for bit in range(64):
            sums[bit] = 0.0
        total = 0.0
        for at in range(offsets[i], offsets[i + 1]):
            feature = features[at]
            weight = weights[at]
            total += weight
            for bit in range(64):
                sums[bit] += weight * np.float64(feature >> np.uint64(bit) & _ONE)
        value = np.uint64(0)
        for bit in range(64):
            value |= np.uint64(2.0 * sums[bit] > total) << np.uint64(bit)
        out[i] = value


@kernel
def squares(weights, offsets, out):
    """Write the sum of the squares of each set's weights."""
    for i in range(len(offsets) - 1):
        total = 0.0
        for at in range(offsets[i], offsets[i + 1]):
            total += weights[at] * weights[at]
        out[i] = total


@kernel
def dots(features, weights, offsets, first, second, out):
    """Write the dot product of each pair of sets, summed in the order of their features."""
    for pair in range(len(first)):
        i = offsets[first[pair]]
        i_end = offsets[first[pair] + 1]
        j = offsets[second[pair]]
        j_end = offsets[second[pair] + 1]
        total = 0.0
        while i < i_end and j < j_end:
            x = features[i]
            y = features[j]
            if x == y:
                total += weights[i] * weights[j]
            i += x <= y
            j += y <= x
        out[pair] = total


@kernel
def prefixes(weights, offsets, least, out):
    """Count the first weights of each set after which the rest is shorter than `least` of it."""
    for i in range(len(offsets) - 1):
        total = 0.0
        for at in range(offsets[i], offsets[i + 1]):
            total += weights[at] * weights[at]
        rest = 0.0
        at = offsets[i + 1]
        while at > offsets[i] and rest + weights[at - 1] * weights[at - 1] < least * total:
            at -= 1
            rest += weights[at] * weights[at]
        out[i] = at - offsets[i]
