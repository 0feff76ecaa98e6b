"""The shingles of a document to its signature, to a short vector, and to a fingerprint."""

import numpy as np

from lookalike.kernels.jit import inner, kernel, ones
from lookalike.kernels.mixing import mix
from lookalike.kernels.shingles import ANY_ORDER, shingles
from lookalike.kernels.weighted_shingles import add_at_places, place_bits

BLOCK_ROWS = 128
"""Rows of a signature among which one round spreads a document's elements."""
LANES = 32
"""Rows that the compiled loop takes at a time, on the widest machines."""
ROUNDS = 3
"""Rounds before the rows that are still empty take a minimum over all elements."""

_ONE = np.uint64(1)
_EMPTY = np.uint32(0xFFFFFFFF)
_FEW_ELEMENTS = 64
_MANY_ELEMENTS = 500


@inner
def _lesser(a, b):
    """Give the lesser of two; Numba's own `min` is compiled for every kind of arguments."""
    return a if a < b else b


@inner
def _fill_empty_rows(values, count, a, b, rows, lower, minima):
    """Give each row that no round reached the minimum of its own hash function.

    Of an element the lower half counts: in the upper one, shingles that differ in their last
    character alone are evenly spaced, and an affine function rarely makes the middle of three such
    numbers the least.
    """
    last = np.uint32(ROUNDS << 30)
    for j in range(count):
        lower[j] = np.uint32(values[j])
    if count >= _FEW_ELEMENTS:
        # The compiled loop runs over elements where they are many, over rows where they are few.
        for i in range(len(rows)):
            if rows[i] == _EMPTY:
                least = _EMPTY
                for j in range(count):
                    least = _lesser(least, np.uint32(a[i] * lower[j] + b[i]))
                rows[i] = last | least >> np.uint32(2)
        return
    width = -(-len(rows) // LANES) * LANES
    for i in range(width):
        minima[i] = _EMPTY
    # Four elements at a time, so that the row is read and written a quarter as often; those that
    # make up the last four are repeats, which change no minimum.
    for j in range(count, count + 3):
        lower[j] = lower[0]
    for j in range(0, count, 4):
        x0 = lower[j]
        x1, x2, x3 = lower[j + 1], lower[j + 2], lower[j + 3]
        for i in range(width):
            y0 = np.uint32(a[i] * x0 + b[i])
            y1 = np.uint32(a[i] * x1 + b[i])
            y2 = np.uint32(a[i] * x2 + b[i])
            y3 = np.uint32(a[i] * x3 + b[i])
            minima[i] = _lesser(minima[i], _lesser(_lesser(y0, y1), _lesser(y2, y3)))
    # These are greater than what any round leaves, so that rows which are not empty stay.
    for i in range(len(rows)):
        rows[i] = _lesser(rows[i], last | minima[i] >> np.uint32(2))


@inner
def _fill_round(values, count, factor, term, round_bits, rows):
    """Put each element in one row of a block, where the least of the round stays."""
    for j in range(count):
        y = values[j] * factor + term
        place = y >> np.uint64(57)
        rows[place] = _lesser(rows[place], round_bits | (np.uint32(y) & np.uint32(0x3FFFFFFF)))


@inner
def _fill_all_rounds(values, count, factors, terms, rows):
    """Do all three rounds of a block at once."""
    f0, f1, f2 = factors[0], factors[1], factors[2]
    t0, t1, t2 = terms[0], terms[1], terms[2]
    value = np.uint32(0x3FFFFFFF)
    for j in range(count):
        x = values[j]
        y = x * f0 + t0
        place = y >> np.uint64(57)
        rows[place] = _lesser(rows[place], np.uint32(y) & value)
        y = x * f1 + t1
        place = y >> np.uint64(57)
        rows[place] = _lesser(rows[place], np.uint32(1 << 30) | (np.uint32(y) & value))
        y = x * f2 + t2
        place = y >> np.uint64(57)
        rows[place] = _lesser(rows[place], np.uint32(2 << 30) | (np.uint32(y) & value))


@inner
def _is_full(rows):
    greatest = np.uint32(0)
    for i in range(len(rows)):
        greatest = rows[i] if rows[i] > greatest else greatest
    return greatest != _EMPTY


@inner
def _sign(values, count, factors, terms, a, b, row, needed, lower, minima):
    """Write the first `needed` rows of the signature of some elements, in blocks of rows.

    A round spreads the elements over the rows of a block, and each row takes the least that fell
    there. Further rounds, whose values are greater than any before, fill the rows that are empty;
    where few elements leave some empty anyway, all rounds are done in one go.
    """
    for i in range(len(row)):
        row[i] = _EMPTY
    if count == 0:
        return
    for block in range(len(row) // BLOCK_ROWS):
        begin = block * BLOCK_ROWS
        end = begin + BLOCK_ROWS
        all_rows = row[begin:end]
        rows = row[begin : needed if needed < end else end]
        first = block * ROUNDS
        if count < _MANY_ELEMENTS:
            _fill_all_rounds(values, count, factors[first:], terms[first:], all_rows)
        else:
            for round_number in range(first, first + ROUNDS):
                round_bits = np.uint32((round_number - first) << 30)
                _fill_round(
                    values, count, factors[round_number], terms[round_number], round_bits, all_rows
                )
                if _is_full(rows):
                    break
        if not _is_full(rows):
            _fill_empty_rows(values, count, a[begin:], b[begin:], rows, lower, minima)


@kernel
def sign_texts(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    table,
    ignored,
    factors,
    terms,
    a,
    b,
    capacity,
    out,
    counts,
):
    """Write the signature and the number of shingles of each chosen document.

    `capacity` is at least the bytes of the longest one, plus one; `a` and `b` have whole
    blocks of rows.
    """
    digits = np.empty(capacity, np.uint64)
    values = np.empty(capacity, np.uint64)
    row = np.empty(len(a), np.uint32)
    lower = np.empty(capacity + 3, np.uint32)
    minima = np.empty(BLOCK_ROWS, np.uint32)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, ANY_ORDER, digits, values
        )
        counts[i] = count
        _sign(values, count, factors, terms, a, b, row, out.shape[1], lower, minima)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def fold_texts(
    data, offsets, chosen, unit, k, base, drop, table, ignored, fold, capacity, out, counts
):
    """Add up the signs of each chosen document's shingles, repeats included, at their places.

    `out` is zero and a power of two wide. The vector of shingle counts, of billions of dimensions,
    is folded so into a short one: angles stay, but for what meets in one place by chance.
    """
    digits = np.empty(capacity, np.uint64)
    values = np.empty(capacity, np.uint64)
    bits = place_bits(out.shape[1])
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, ANY_ORDER, digits, values
        )
        counts[i] = count
        for j in range(count):
            add_at_places(out[i], bits, mix(values[j] ^ fold), np.float32(1))


@kernel
def print_texts(data, offsets, chosen, unit, k, base, drop, table, ignored, capacity, out, counts):
    """Write the 64-bit fingerprint of each chosen document: the majority of each bit.

    Bit i of all hashes is counted at once: plane p holds bit p of each of the 64 counts.
    """
    digits = np.empty(capacity, np.uint64)
    values = np.empty(capacity, np.uint64)
    planes = np.empty(40, np.uint64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, ANY_ORDER, digits, values
        )
        counts[i] = count
        for p in range(len(planes)):
            planes[p] = np.uint64(0)
        for j in range(count):
            carry = values[j]
            p = 0
            while carry != 0:
                both = planes[p] & carry
                planes[p] ^= carry
                carry = both
                p += 1
        # More than half: the counts are compared with count // 2 from the highest plane down.
        half = np.uint64(count // 2)
        above = np.uint64(0)
        equal = ~np.uint64(0)
        for step in range(len(planes)):
            p = len(planes) - 1 - step
            if half >> np.uint64(p) & _ONE:
                equal &= planes[p]
            else:
                above |= equal & planes[p]
                equal &= ~planes[p]
        out[i] = above


@kernel
def sign_elements(elements, offsets, factors, terms, a, b, capacity, out):
    """Write the signature of each set of elements, `capacity` of them at the most."""
    row = np.empty(len(a), np.uint32)
    lower = np.empty(capacity + 3, np.uint32)
    minima = np.empty(BLOCK_ROWS, np.uint32)
    for i in range(len(offsets) - 1):
        values = elements[offsets[i] : offsets[i + 1]]
        _sign(values, len(values), factors, terms, a, b, row, out.shape[1], lower, minima)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def differing_rows(asked, stored, out):
    """Count the rows, of two bits each, sixteen a word, in which many sketches differ from one."""
    for i in range(len(stored)):
        count = 0
        for j in range(len(asked)):
            bits = asked[j] ^ stored[i, j]
            count += ones((bits | (bits >> np.uint32(1))) & np.uint32(0x55555555))
        out[i] = count


@kernel
def prefilter_bits(signatures, out):
    """Write two bits of each of so many rows, sixteen rows a word, the first lowest.

    They are mixed from the whole row: the lowest bits of affine functions of two elements agree in
    all rows or in none, whatever the functions.
    """
    for i in range(len(signatures)):
        for word in range(out.shape[1]):
            bits = np.uint32(0)
            for j in range(16):
                x = signatures[i, 16 * word + j]
                x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
                x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
                bits |= np.uint32((x >> np.uint32(30)) << np.uint32(2 * j))
            out[i, word] = bits
