"""Canonical text to shingles, to sets of them, and to signatures, in one pass over the bytes.

`docs/hashing.md` defines every number made here. Products of 64-bit words wrap around; fingerprints
are modulo the Mersenne prime 2^61 - 1, where 2^61 = 1 makes a remainder of two shifts and a sum.

Arrays are copied by loops: an assignment to a slice takes the compiler seconds.
"""

import numpy as np

from lookalike.kernels.jit import kernel, multiply_high, trailing_zeros

CHARS, WORDS, TOKENS = 0, 1, 2

PRIME = np.uint64((1 << 61) - 1)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_WORD_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_WORD = np.uint32(1 << 24)
_SINGLE = np.uint32(1 << 25)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_HALF = np.uint64(32)
_HIGH_BITS = np.uint64(0x8080808080808080)
_CASE_BITS = np.uint64(0x2020202020202020)
_FROM_A = np.uint64(0x1F1F1F1F1F1F1F1F)
_PAST_Z = np.uint64(0x0505050505050505)
_FROM_0 = np.uint64(0x5050505050505050)
_PAST_9 = np.uint64(0x4646464646464646)
_EMPTY = np.uint32(0xFFFFFFFF)
_CROWDED = 64


@kernel
def _mix(x):
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def _reduce(x):
    """Give the remainder of any 64-bit word."""
    x = (x & PRIME) + (x >> np.uint64(61))
    return x - PRIME if x >= PRIME else x


@kernel
def _multiply(x, y):
    """Give a number that equals the product modulo the prime, at most 2^61 + x * y / 2^61.

    The caller sees to it that this bound is below 2^64.
    """
    low = x * y
    return (low & PRIME) + ((low >> np.uint64(61)) | (multiply_high(x, y) << np.uint64(3)))


@kernel
def _point(doc, at):
    """Give the code point at a byte of valid UTF-8 and its length in bytes."""
    lead = np.uint32(doc[at])
    if lead < 0x80:
        return lead, _ONE
    second = np.uint32(doc[at + _ONE] & 0x3F)
    if lead < 0xE0:
        return np.uint32((lead & 0x1F) << 6 | second), np.uint64(2)
    third = np.uint32(doc[at + np.uint64(2)] & 0x3F)
    if lead < 0xF0:
        return np.uint32((lead & 0x0F) << 12 | second << 6 | third), np.uint64(3)
    fourth = np.uint32(doc[at + np.uint64(3)] & 0x3F)
    point = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
    return np.uint32(point), np.uint64(4)


@kernel
def _characters(doc, digits):
    """Write each code point plus one, and give their number."""
    bits = np.uint8(0)
    for j in range(len(doc)):
        bits = np.uint8(bits | doc[j])
    if bits < 0x80:
        for j in range(len(doc)):
            digits[j] = np.uint64(doc[j]) + _ONE
        return len(doc)
    count = 0
    at = np.uint64(0)
    size = np.uint64(len(doc))
    while at < size:
        point, length = _point(doc, at)
        digits[count] = np.uint64(point) + _ONE
        count += 1
        at += length
    return count


@kernel
def _eight(doc, at):
    """Read 8 bytes, little-endian; the compiler makes one load of it."""
    word = np.uint64(0)
    for j in range(8):
        word |= np.uint64(doc[at + np.uint64(j)]) << np.uint64(8 * j)
    return word


@kernel
def _bytes_hash(doc, start, end):
    """Give the 64-bit hash of some bytes."""
    size = end - start
    h = size * GOLDEN
    at = start
    while at + _EIGHT <= end:
        h = (h ^ _eight(doc, at)) * _WORD_FACTOR
        h ^= h >> _HALF
        at += _EIGHT
    if at < end:
        chunk = np.uint64(0)
        shift = np.uint64(0)
        while at < end:
            chunk |= np.uint64(doc[at]) << shift
            shift += _EIGHT
            at += _ONE
        h = (h ^ chunk) * _WORD_FACTOR
        h ^= h >> _HALF
    return _mix(h)


@kernel
def _word_end(doc, at, table):
    """Give the place after the run of letters, marks and numbers at a byte."""
    size = np.uint64(len(doc))
    while at < size:
        point, length = _point(doc, at)
        record = table[point]
        if not record & _WORD or record & _SINGLE:
            break
        at += length
    return at


@kernel
def _words(doc, table, digits):
    """Write the hash of each word, and give their number."""
    count = 0
    size = np.uint64(len(doc))
    at = np.uint64(0)
    while at < size:
        if at + _EIGHT <= size:
            eight = _eight(doc, at)
            if not eight & _HIGH_BITS:
                # One bit a byte, its highest, for letters and digits: a sum carries into it
                # when the byte reaches the first of them, and no further, as all are below 128.
                folded = eight | _CASE_BITS
                letters = (folded + _FROM_A) & ~(folded + _PAST_Z)
                numbers = (eight + _FROM_0) & ~(eight + _PAST_9)
                inside = (letters | numbers) & _HIGH_BITS
                if not inside & np.uint64(0x80):
                    at += (trailing_zeros(inside) if inside else np.uint64(64)) >> np.uint64(3)
                    continue
                outside = inside ^ _HIGH_BITS
                if outside:
                    bits = trailing_zeros(outside) & np.uint64(0x38)
                    length = bits >> np.uint64(3)
                    h = (length * GOLDEN) ^ (eight & ((_ONE << bits) - _ONE))
                    h *= _WORD_FACTOR
                    h ^= h >> _HALF
                    digits[count] = _reduce(_mix(h))
                    count += 1
                    at += length + _ONE
                    continue
        point, width = _point(doc, at)
        record = table[point]
        if record & _SINGLE:
            end = at + width
        elif record & _WORD:
            end = _word_end(doc, at, table)
        else:
            at += width
            continue
        digits[count] = _reduce(_bytes_hash(doc, at, end))
        count += 1
        at = end
    return count


@kernel
def word_places(doc, table, starts, ends):
    """Write the first byte of each word and the one after its last, and give their number."""
    count = 0
    size = np.uint64(len(doc))
    at = np.uint64(0)
    while at < size:
        point, width = _point(doc, at)
        record = table[point]
        if record & _SINGLE:
            end = at + width
        elif record & _WORD:
            end = _word_end(doc, at, table)
        else:
            at += width
            continue
        starts[count] = at
        ends[count] = end
        count += 1
        at = end
    return count


@kernel
def _window(digits, start, k, base):
    f = np.uint64(0)
    for j in range(start, start + k):
        f = _multiply(f, base) + digits[j]
    return f


@kernel
def _roll(digits, count, k, base, drop, hashes):
    """Write the hash of each window of k digits, and give their number.

    `drop` is the prime less base^k: what a digit's leaving adds, times the digit. Sums are left
    unreduced from step to step: the base is below 2^58, so that they stay below 2^64. Two windows
    roll at once, one from the start and one from the middle, because each step waits for the last.
    """
    if count <= k:
        hashes[0] = _mix(_reduce(_window(digits, 0, count, base)))
        return 1
    windows = count - k + 1
    half = windows // 2
    second_digits = digits[half:count]
    second_hashes = hashes[half:windows]
    first = _window(digits, 0, k, base)
    second = _window(second_digits, 0, k, base)
    hashes[0] = _mix(_reduce(first))
    second_hashes[0] = _mix(_reduce(second))
    for j in range(1, half):
        change = _multiply(digits[j - 1], drop) + digits[j - 1 + k]
        first = _multiply(first, base) + change
        hashes[j] = _mix(_reduce(first))
        change = _multiply(second_digits[j - 1], drop) + second_digits[j - 1 + k]
        second = _multiply(second, base) + change
        second_hashes[j] = _mix(_reduce(second))
    for j in range(half, windows - half):
        change = _multiply(second_digits[j - 1], drop) + second_digits[j - 1 + k]
        second = _multiply(second, base) + change
        second_hashes[j] = _mix(_reduce(second))
    return windows


@kernel
def _all_shingles(doc, unit, k, base, drop, table, digits, hashes):
    """Write the hash of each shingle in order, and give their number."""
    if len(doc) == 0:
        return 0
    if unit == TOKENS:
        for j in range(len(doc) // 8):
            hashes[j] = _eight(doc, np.uint64(8 * j))
        return len(doc) // 8
    if unit == WORDS:
        count = _words(doc, table, digits)
        if count > 0:
            return _roll(digits, count, k, base, drop, hashes)
        # No words at all: the whole text is the one shingle.
        count = _characters(doc, digits)
        return _roll(digits, count, count, base, drop, hashes)
    return _roll(digits, _characters(doc, digits), k, base, drop, hashes)


@kernel
def _slot(value, listed):
    """Give the slot of a value that is not 0: where it is, or the free one where it belongs."""
    last = np.uint64(len(listed) - 2)
    slot = value & last
    while listed[slot] != value and listed[slot] != 0:
        slot = (slot + _ONE) & last
    return slot


@kernel
def list_values(values, listed):
    """Enter values in a table: a power of two slots, not all of them needed, and one word.

    0 marks a free slot; whether the value 0 is listed itself, the word after the slots tells.
    """
    for j in range(len(values)):
        if values[j] == 0:
            listed[len(listed) - 1] = _ONE
        else:
            listed[_slot(values[j], listed)] = values[j]


@kernel
def _is_listed(value, listed):
    if value == 0:
        return listed[len(listed) - 1] != 0
    return listed[_slot(value, listed)] == value


@kernel
def _shingles(doc, unit, k, base, drop, table, ignored, digits, hashes):
    """Write the hash of each shingle that is not ignored, in order, and give their number."""
    count = _all_shingles(doc, unit, k, base, drop, table, digits, hashes)
    if len(ignored) == 0:
        return count
    kept = 0
    for j in range(count):
        hashes[kept] = hashes[j]
        kept += not _is_listed(hashes[j], ignored)
    return kept


@kernel
def _sort_crowded(values, spare):
    """Sort by one byte at a time, from the lowest; the result is in `values`."""
    tallies = np.empty(257, np.int64)
    for byte in range(8):
        shift = np.uint64(8 * byte)
        for j in range(257):
            tallies[j] = 0
        for j in range(len(values)):
            tallies[np.int64(values[j] >> shift & np.uint64(0xFF)) + 1] += 1
        for j in range(256):
            tallies[j + 1] += tallies[j]
        for j in range(len(values)):
            digit = np.int64(values[j] >> shift & np.uint64(0xFF))
            spare[tallies[digit]] = values[j]
            tallies[digit] += 1
        for j in range(len(values)):
            values[j] = spare[j]


@kernel
def _sort(values, count, spare, tallies):
    """Sort hashes in place, in time that grows with their number alone.

    They are spread evenly by `mix`, so that one scatter by the upper bits leaves each next to its
    place, and an insertion sort does the rest. A bucket that repeats, or malice, has crowded is
    sorted by itself before that.
    """
    if count < 2:
        return
    bits = 1
    while (2 << bits) < count and (2 << bits) < len(tallies):
        bits += 1
    shift = np.uint64(64 - bits)
    size = 1 << bits
    for j in range(size + 1):
        tallies[j] = 0
    for j in range(count):
        tallies[np.int64(values[j] >> shift) + 1] += 1
    for j in range(size):
        tallies[j + 1] += tallies[j]
    for j in range(count):
        home = np.int64(values[j] >> shift)
        spare[tallies[home]] = values[j]
        tallies[home] += 1
    start = np.int64(0)
    for bucket in range(size):
        end = tallies[bucket]
        if end - start > _CROWDED:
            _sort_crowded(spare[start:end], values[start:end])
        start = end
    values[0] = spare[0]
    for j in range(1, count):
        value = spare[j]
        i = j
        while i > 0 and values[i - 1] > value:
            values[i] = values[i - 1]
            i -= 1
        values[i] = value


@kernel
def _elements(values, count, multiset, spare, tallies):
    """Make sorted, distinct elements of the shingles' hashes, in place, and give their number."""
    _sort(values, count, spare, tallies)
    if multiset:
        occurrence = np.uint64(0)
        shingle = values[0]
        for j in range(1, count):
            if values[j] == shingle:
                occurrence += _ONE
                values[j] = _mix(shingle + occurrence * GOLDEN)
            else:
                shingle = values[j]
                occurrence = np.uint64(0)
        _sort(values, count, spare, tallies)
        return count
    distinct = min(count, 1)
    for j in range(1, count):
        if values[j] != values[distinct - 1]:
            values[distinct] = values[j]
            distinct += 1
    return distinct


@kernel
def _sign(values, count, a, b, row):
    """Take the minimum of each hash function over the upper halves of the values."""
    for i in range(len(row)):
        row[i] = _EMPTY
    # Four at a time, so that the row is read and written a quarter as often.
    quads = count // 4
    for q in range(quads):
        x0 = np.uint32(values[4 * q] >> _HALF)
        x1 = np.uint32(values[4 * q + 1] >> _HALF)
        x2 = np.uint32(values[4 * q + 2] >> _HALF)
        x3 = np.uint32(values[4 * q + 3] >> _HALF)
        for i in range(len(row)):
            y0 = np.uint32(a[i] * x0 + b[i])
            y1 = np.uint32(a[i] * x1 + b[i])
            y2 = np.uint32(a[i] * x2 + b[i])
            y3 = np.uint32(a[i] * x3 + b[i])
            row[i] = min(row[i], min(min(y0, y1), min(y2, y3)))
    for j in range(4 * quads, count):
        x = np.uint32(values[j] >> _HALF)
        for i in range(len(row)):
            row[i] = min(row[i], np.uint32(a[i] * x + b[i]))


@kernel
def sign_texts(
    data, offsets, chosen, unit, k, base, drop, table, ignored, multiset, a, b, room, out, counts
):
    """Write the signature and the number of shingles of each chosen document.

    `room` is at least the bytes of the longest one, plus one; `a` and `b` may be longer than the
    signatures, since the loop over them runs in whole vectors.
    """
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    tallies = np.empty(room + 2 if multiset else 1, np.int64)
    row = np.empty(len(a), np.uint32)
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
        if multiset:
            _elements(values, count, multiset, digits, tallies)
        counts[i] = count
        _sign(values, count, a, b, row)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def fold_texts(data, offsets, chosen, unit, k, base, drop, table, ignored, fold, room, out, counts):
    """Add up the signs of each chosen document's shingles, repeats included, each at its place.

    `out` is zero and a power of two wide. The vector of shingle counts, of billions of dimensions,
    is folded so into a short one: angles stay, but for what meets in one place by chance.
    """
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    shift = np.uint64(64)
    width = out.shape[1]
    while width > 1:
        width >>= 1
        shift -= _ONE
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
        counts[i] = count
        row = out[i]
        for j in range(count):
            x = _mix(values[j] ^ fold)
            row[x >> shift] += np.float32(1) - np.float32(2) * np.float32(x & _ONE)


@kernel
def print_texts(data, offsets, chosen, unit, k, base, drop, table, ignored, room, out, counts):
    """Write the 64-bit fingerprint of each chosen document: the majority of each bit.

    Bit i of all hashes is counted at once: plane p holds bit p of each of the 64 counts.
    """
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    planes = np.empty(40, np.uint64)
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
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
def token_sets(data, places, ends, multiset, room, out, out_offsets):
    """Write each document's token hashes, sorted, as little-endian words; distinct in a set.

    Token j is the bytes from `places[j]` to `places[j + 1]`; document i has the tokens up to
    `ends[i]` that none before it has, `room` at the most.
    """
    values = np.empty(room, np.uint64)
    spare = np.empty(room, np.uint64)
    tallies = np.empty(room + 2, np.int64)
    token = np.int64(0)
    at = np.int64(0)
    for i in range(len(ends)):
        count = ends[i] - token
        for j in range(count):
            values[j] = _bytes_hash(data, np.uint64(places[token]), np.uint64(places[token + 1]))
            token += 1
        _sort(values, count, spare, tallies)
        for j in range(count):
            if multiset or j == 0 or values[j] != values[j - 1]:
                for byte in range(8):
                    out[at + byte] = values[j] >> np.uint64(8 * byte) & np.uint64(0xFF)
                at += 8
        out_offsets[i + 1] = at


@kernel
def sign_elements(elements, offsets, a, b, out):
    """Write the signature of each set of elements."""
    row = np.empty(len(a), np.uint32)
    for i in range(len(offsets) - 1):
        values = elements[offsets[i] : offsets[i + 1]]
        _sign(values, len(values), a, b, row)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def list_shingles(
    data, offsets, chosen, unit, k, base, drop, table, ignored, room, out, out_offsets
):
    """Write the hashes of the chosen documents' shingles, in the order of the text."""
    digits = np.empty(room, np.uint64)
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        values = out[out_offsets[i] :]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
        out_offsets[i + 1] = out_offsets[i] + count


@kernel
def element_sets(
    data, offsets, chosen, unit, k, base, drop, table, ignored, multiset, room, out, out_offsets
):
    """Write the sorted, distinct elements of the chosen documents one after the other."""
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    tallies = np.empty(room + 2, np.int64)
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
        # The digits have done their work; the sort takes their room.
        count = _elements(values, count, multiset, digits, tallies)
        at = out_offsets[i]
        for j in range(count):
            out[at + j] = values[j]
        out_offsets[i + 1] = at + count


@kernel
def bags(
    data, offsets, chosen, unit, k, base, drop, table, ignored, room, out, out_counts, out_offsets
):
    """Write the sorted, distinct shingles of the chosen documents, and how often each occurs."""
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    tallies = np.empty(room + 2, np.int64)
    for i in range(len(chosen)):
        doc = data[offsets[chosen[i]] : offsets[chosen[i] + 1]]
        count = _shingles(doc, unit, k, base, drop, table, ignored, digits, values)
        _sort(values, count, digits, tallies)
        at = out_offsets[i] - 1
        for j in range(count):
            if j == 0 or values[j] != values[j - 1]:
                at += 1
                out[at] = values[j]
                out_counts[at] = 1.0
            else:
                out_counts[at] += 1.0
        out_offsets[i + 1] = at + 1
