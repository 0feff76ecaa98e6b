"""Vectors to the signs of their dot products with random hyperplanes, and what bits tell.

The hyperplanes are the rows of H F3 H F2 H F1, where H is a Hadamard matrix and each F turns random
signs around: their components are sums of thousands of random signs, and a product with all of
them takes a few additions for each instead of a multiplication for each number.
`docs/hashing.md` defines every bit.
"""

import math

import numpy as np

from lookalike.kernels.jit import inner, kernel, ones
from lookalike.kernels.mixing import GOLDEN, mix

LANES = 32
"""Vectors that go through a transform side by side, one in each place of the machine's vectors."""


@inner
def _two(a, b):
    for i in range(len(a)):
        total = a[i] + b[i]
        b[i] = a[i] - b[i]
        a[i] = total


@inner
def _eight(a, b, c, d, e, f, g, h):
    """Do three steps at once, so that what they work on stays in the registers."""
    for i in range(len(a)):
        p0, p1 = a[i] + b[i], a[i] - b[i]
        p2, p3 = c[i] + d[i], c[i] - d[i]
        p4, p5 = e[i] + f[i], e[i] - f[i]
        p6, p7 = g[i] + h[i], g[i] - h[i]
        q0, q1, q2, q3 = p0 + p2, p1 + p3, p0 - p2, p1 - p3
        q4, q5, q6, q7 = p4 + p6, p5 + p7, p4 - p6, p5 - p7
        a[i], b[i], c[i], d[i] = q0 + q4, q1 + q5, q2 + q6, q3 + q7
        e[i], f[i], g[i], h[i] = q0 - q4, q1 - q5, q2 - q6, q3 - q7


@inner
def _hadamard(buffer):
    """Multiply by the Hadamard matrix in place: sums and differences at growing distances."""
    end = len(buffer)
    step = LANES
    while 8 * step <= end:
        for at in range(0, end, 8 * step):
            _eight(
                buffer[at : at + step],
                buffer[at + step : at + 2 * step],
                buffer[at + 2 * step : at + 3 * step],
                buffer[at + 3 * step : at + 4 * step],
                buffer[at + 4 * step : at + 5 * step],
                buffer[at + 5 * step : at + 6 * step],
                buffer[at + 6 * step : at + 7 * step],
                buffer[at + 7 * step : at + 8 * step],
            )
        step *= 8
    while step < end:
        for at in range(0, end, 2 * step):
            _two(buffer[at : at + step], buffer[at + step : at + 2 * step])
        step *= 2


@kernel
def signs(values, flips, out):
    """Write the bits of each vector, 32 to a word, as many words as there is room for.

    `flips[block, round]` are the signs, 1 or -1, of one round of one block of hyperplanes; a vector
    may be shorter than they are.
    """
    count, dimension = values.shape
    blocks, rounds, size = flips.shape
    per_block = size // 32
    buffer = np.empty(size * LANES, np.float32)
    words = np.empty(LANES, np.uint32)
    for start in range(0, count, LANES):
        lanes = min(LANES, count - start)
        for block in range(blocks):
            for j in range(len(buffer)):
                buffer[j] = np.float32(0)
            for lane in range(lanes):
                vector = values[start + lane]
                for j in range(dimension):
                    buffer[j * LANES + lane] = vector[j]
            for turn in range(rounds):
                for j in range(size):
                    flip = flips[block, turn, j]
                    side = buffer[j * LANES : (j + 1) * LANES]
                    for lane in range(LANES):
                        side[lane] *= flip
                _hadamard(buffer)
            for at in range(block * per_block, min((block + 1) * per_block, out.shape[1])):
                for lane in range(LANES):
                    words[lane] = np.uint32(0)
                first = (at - block * per_block) * 32 * LANES
                for bit in range(32):
                    side = buffer[first + bit * LANES : first + (bit + 1) * LANES]
                    for lane in range(LANES):
                        words[lane] |= np.uint32(side[lane] >= np.float32(0)) << np.uint32(bit)
                for lane in range(lanes):
                    out[start + lane, at] = words[lane]


@inner
def _bits(words, at, count):
    """Give up to 64 bits from a place on, the first one lowest."""
    value = np.uint64(0)
    done = 0
    while done < count:
        here = at + done
        taken = min(32 - here % 32, count - done)
        part = np.uint64(words[here // 32]) >> np.uint64(here % 32)
        value |= (part & ((np.uint64(1) << np.uint64(taken)) - np.uint64(1))) << np.uint64(done)
        done += taken
    return value


@kernel
def bit_keys(sketches, rows, out):
    """Write the key of each band of so many bits; band j of document i is out[j, i]."""
    for i in range(len(sketches)):
        words = sketches[i]
        for band in range(len(out)):
            at = band * rows
            if rows <= 64:
                out[band, i] = _bits(words, at, rows)
            else:
                key = np.uint64(rows)
                for start in range(0, rows, 64):
                    chunk = _bits(words, at + start, min(64, rows - start))
                    key = mix(key ^ chunk) + GOLDEN
                out[band, i] = key


@kernel
def differing(sketches, words, first, second, out):
    """Count the bits that differ in so many words of the sketches of each pair."""
    for pair in range(len(first)):
        a = sketches[first[pair]]
        b = sketches[second[pair]]
        count = 0
        for j in range(words):
            count += ones(a[j] ^ b[j])
        out[pair] = count


@kernel
def scaled_vectors(values, out, kinds):
    """Write each vector with its largest number from 1 to 2, and what it is.

    0 is good, 1 not finite, 2 zero. The factor is a power of two, which rounds nothing; it is taken
    in two steps, since one alone may be too large for a number.
    """
    for i in range(len(values)):
        vector = values[i]
        largest = 0.0
        finite = True
        for j in range(len(vector)):
            finite &= np.isfinite(vector[j])
            largest = max(largest, abs(vector[j]))
        kinds[i] = 0 if finite and largest > 0 else 2 if finite else 1
        if kinds[i] != 0:
            continue
        shift = 1 - math.frexp(largest)[1]
        half = math.ldexp(1.0, shift // 2)
        rest = math.ldexp(1.0, shift - shift // 2)
        for j in range(len(vector)):
            # Plus 0, since -0 and 0 are the same direction and shall be the same bytes.
            out[i, j] = np.float32(vector[j] * half * rest) + np.float32(0)


@kernel
def dots(vectors, first, second, out):
    """Write the dot product of each pair of vectors, in eight sums side by side."""
    for pair in range(len(first)):
        a = vectors[first[pair]]
        b = vectors[second[pair]]
        s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        whole = len(a) // 8 * 8
        for j in range(0, whole, 8):
            s0 += np.float64(a[j]) * np.float64(b[j])
            s1 += np.float64(a[j + 1]) * np.float64(b[j + 1])
            s2 += np.float64(a[j + 2]) * np.float64(b[j + 2])
            s3 += np.float64(a[j + 3]) * np.float64(b[j + 3])
            s4 += np.float64(a[j + 4]) * np.float64(b[j + 4])
            s5 += np.float64(a[j + 5]) * np.float64(b[j + 5])
            s6 += np.float64(a[j + 6]) * np.float64(b[j + 6])
            s7 += np.float64(a[j + 7]) * np.float64(b[j + 7])
        rest = 0.0
        for j in range(whole, len(a)):
            rest += np.float64(a[j]) * np.float64(b[j])
        out[pair] = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest
