"""Canonical text to shingles, to sets of them, and to signatures, in one pass over the bytes.

`docs/hashing.md` defines every number made here. Products of 64-bit words wrap around; fingerprints
are modulo the Mersenne prime 2^61 - 1, where 2^61 = 1 makes a remainder of two shifts and a sum.

Arrays are copied by loops: an assignment to a slice takes the compiler seconds.
"""

import numpy as np

from lookalike.kernels.blocks import eight_bytes, high_bits, word_bits
from lookalike.kernels.jit import inner, kernel, multiply_high, ones, trailing_zeros

CHARS, WORDS, TOKENS = 0, 1, 2
BLOCK = 128
"""Rows of a signature among which one throw spreads a document's elements."""
MOST_BITS = 12
"""Bits that one scatter sorts by, at the most."""
TALLIES = 2 * ((1 << MOST_BITS) + 1)
LANES = 32
"""Rows that the compiled loop takes at a time, on the widest machines."""
ROUNDS = 3
"""Throws before the rows that are still empty take a minimum over all elements."""

PRIME = np.uint64((1 << 61) - 1)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_WORD_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_WORD = np.uint32(1 << 24)
_SINGLE = np.uint32(1 << 25)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_SHORT = np.uint64(16)
_HALF = np.uint64(32)
_BYTES = np.uint64(64)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_EMPTY = np.uint32(0xFFFFFFFF)
_CROWDED = 16
_FEW = 64
_ENOUGH = 500


@inner
def _mix(x):
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inner
def _reduce(x):
    """Give the remainder of any 64-bit word."""
    x = (x & PRIME) + (x >> np.uint64(61))
    return x - PRIME if x >= PRIME else x


@inner
def _spread(x):
    """Spread the differences of fingerprints over all bits: half of `mix`, for what is mixed."""
    x ^= x >> _HALF
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(29))


@inner
def _multiply(x, eightfold):
    """Give a number that equals x * y modulo the prime, at most 2^61 + x * y / 2^61, for 8 * y.

    The product of 8 * y has what is above its 61st bit in the upper word. The caller sees to it
    that the bound is below 2^64.
    """
    return multiply_high(x, eightfold) + ((x * eightfold) >> np.uint64(3))


@inner
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


@inner
def _characters(data, start, end, digits):
    """Write each code point plus one, and give their number."""
    count = 0
    at = start
    while at < end:
        point, length = _point(data, at)
        digits[count] = np.uint64(point) + _ONE
        count += 1
        at += length
    return count


@inner
def _bytes_hash(data, start, end):
    """Give the hash of some bytes, before it is mixed."""
    size = end - start
    h = size * GOLDEN
    at = start
    while at + _EIGHT <= end:
        h = (h ^ eight_bytes(data, at)) * _WORD_FACTOR
        h ^= h >> _HALF
        at += _EIGHT
    if at < end:
        chunk = np.uint64(0)
        shift = np.uint64(0)
        while at < end:
            chunk |= np.uint64(data[at]) << shift
            shift += _EIGHT
            at += _ONE
        h = (h ^ chunk) * _WORD_FACTOR
        h ^= h >> _HALF
    return h


@inner
def _word_end(data, at, end, table):
    """Give the place after the run of letters, marks and numbers at a byte."""
    while at < end:
        point, length = _point(data, at)
        record = table[point]
        if not record & _WORD or record & _SINGLE:
            break
        at += length
    return at


@inner
def _last_bits(data, at):
    """Give the bits of the last bytes of the data, which are no whole block."""
    tail = np.empty(64, np.uint8)
    for j in range(64):
        tail[j] = 0
    for j in range(len(data) - at):
        tail[j] = data[at + np.uint64(j)]
    return word_bits(tail, np.uint64(0)), high_bits(tail, np.uint64(0))


@inner
def _places_by_blocks(data, start, end, table, places):
    """Write where words begin and end, in turn, by blocks of 64 bytes; give how many places.

    -1 where an ideograph or a kana is met: those can stand side by side, and edges between what is
    in a word and what is not do not show that.
    """
    size, room = np.uint64(len(data)), np.uint64(len(places))
    count = np.uint64(0)
    before = np.uint64(0)  # whether the byte before the block is in a word
    beyond = np.uint64(0)  # the first bytes of the next block that a character reaches into
    known = np.uint64(0)  # and whether they are in a word
    at = start
    while at < end:
        left = end - at
        if at + _BYTES <= size:
            inside = word_bits(data, at)
            high = high_bits(data, at)
        else:
            inside, high = _last_bits(data, at)
        if left < _BYTES:
            inside &= (_ONE << left) - _ONE
            high &= (_ONE << left) - _ONE
        if high:
            inside |= known
            high &= ~beyond
            beyond = known = np.uint64(0)
            while high:
                place = trailing_zeros(high)
                point, width = _point(data, at + place)
                record = table[point]
                if record & _SINGLE:
                    return -1
                bits = ((_ONE << width) - _ONE) << place
                if place + width > _BYTES:
                    beyond = (_ONE << (place + width - _BYTES)) - _ONE
                if record & _WORD:
                    inside |= bits
                    known = beyond
                high &= ~bits
        edges = inside ^ (inside << _ONE | before)
        before = inside >> np.uint64(63)
        if count + _BYTES <= room:
            # Eight at a time, of which the last may be none and are overwritten: how many edges a
            # block has is not to be guessed, and to guess wrong takes longer.
            place = count
            count += np.uint64(ones(edges))
            while edges:
                for j in range(8):
                    places[place + np.uint64(j)] = at + trailing_zeros(edges)
                    edges &= edges - _ONE
                place += _EIGHT
        while edges:
            places[count] = at + trailing_zeros(edges)
            edges &= edges - _ONE
            count += _ONE
        at += _BYTES
    if count & _ONE:
        places[count] = end
        count += _ONE
    return np.int64(count)


@kernel
def word_places(data, start, end, table, places):
    """Write the first byte of each word and the one after its last, and give the words' number."""
    count = _places_by_blocks(data, start, end, table, places)
    if count >= 0:
        return count >> 1
    count = 0
    at = start
    while at < end:
        point, width = _point(data, at)
        record = table[point]
        if not record & (_WORD | _SINGLE):
            at += width
            continue
        places[count] = at
        at += width
        if not record & _SINGLE:
            at = _word_end(data, at, end, table)
        places[count + 1] = at
        count += 2
    return count >> 1


@inner
def _hash_short_words(data, places, count, digits):
    """Write the hash of each word as if it had 16 bytes at the most; give the longest one's bytes.

    Reads 16 bytes of each.
    """
    longest = np.uint64(0)
    j = np.uint64(0)
    while j < np.uint64(count):
        first = places[j + j]
        length = places[j + j + _ONE] - first
        longest = max(longest, length)
        # One chunk and two, whichever holds: to choose costs less than to guess wrong.
        bits = length << np.uint64(3)
        long = length > _EIGHT
        mask = _ALL if long else _ALL >> ((_BYTES - bits) & np.uint64(63))
        h = ((length * GOLDEN) ^ (eight_bytes(data, first) & mask)) * _WORD_FACTOR
        h ^= h >> _HALF
        mask = _ALL >> ((np.uint64(128) - bits) & np.uint64(63))
        longer = (h ^ (eight_bytes(data, first + _EIGHT) & mask)) * _WORD_FACTOR
        longer ^= longer >> _HALF
        digits[j] = longer if long else h
        j += _ONE
    return longest


@inner
def _words(data, start, end, table, places, digits):
    """Write the hash of each word, and give their number; `places` has room for two a word."""
    count = word_places(data, start, end, table, places)
    done, longest = np.uint64(0), end - start
    if count > 0 and places[2 * count - 2] + _SHORT <= np.uint64(len(data)):
        done, longest = _SHORT, _hash_short_words(data, places, count, digits)
    if longest > done:
        for j in range(count):
            first, last = places[2 * j], places[2 * j + 1]
            if last - first > done:
                digits[j] = _bytes_hash(data, first, last)
    for j in range(count):
        digits[j] = _reduce(digits[j])
    return count


@inner
def _window(digits, start, k, base):
    f = np.uint64(0)
    for j in range(start, start + k):
        f = _multiply(f, base) + digits[j]
    return f


@inner
def _finish(hashes, count):
    """Make hashes of fingerprints that are not yet reduced; a loop of its own runs in vectors."""
    for j in range(count):
        x = (hashes[j] & PRIME) + (hashes[j] >> np.uint64(61))
        # What is the prime or more is so if one more is 2^61 or more: this spares a comparison.
        hashes[j] = _spread((x + ((x + _ONE) >> np.uint64(61))) & PRIME)
    return count


@inner
def _roll(digits, count, k, base, drop, hashes):
    """Write the hash of each window of k digits, and give their number.

    `drop` is the prime less base^k: what a digit's leaving adds, times the digit. It and the base
    are given eightfold. Sums are left unreduced from step to step: the base is below 2^58, so that
    they stay below 2^64. Two windows roll at once, one from the start and one from the middle,
    because each step waits for the last.
    """
    if count <= k:
        hashes[0] = _window(digits, 0, count, base)
        return _finish(hashes, 1)
    windows = np.uint64(count - k + 1)
    size, half = np.uint64(k), windows >> _ONE
    first = _window(digits, 0, k, base)
    second = _window(digits, np.int64(half), k, base)
    hashes[0] = first
    hashes[half] = second
    # Places are unsigned and slices are spared: either would be looked after at every step, or take
    # the compiler long.
    j = np.uint64(0)
    while j + _ONE < half:
        change = _multiply(digits[j], drop) + digits[j + size]
        first = _multiply(first, base) + change
        hashes[j + _ONE] = first
        change = _multiply(digits[j + half], drop) + digits[j + half + size]
        second = _multiply(second, base) + change
        hashes[j + half + _ONE] = second
        j += _ONE
    j += half
    while j + _ONE < windows:
        change = _multiply(digits[j], drop) + digits[j + size]
        second = _multiply(second, base) + change
        hashes[j + _ONE] = second
        j += _ONE
    return _finish(hashes, np.int64(windows))


@inner
def _byte_window(data, start, k, base):
    f = np.uint64(0)
    for j in range(k):
        f = _multiply(f, base) + np.uint64(data[start + np.uint64(j)]) + _ONE
    return f


@inner
def _roll_bytes(data, start, end, k, base, leaving, hashes):
    """Write the hash of each window of k characters of ASCII, and give their number.

    `leaving` is what the digit of each byte adds when it leaves, and 1, for the byte that enters:
    its digit is one more than itself. Four windows roll at once, each through a quarter.
    """
    size = np.uint64(k)
    windows = end - start - size + _ONE
    part = windows >> np.uint64(2)
    p1, p2, p3 = part, part + part, part + part + part
    f0 = _byte_window(data, start, k, base)
    f1 = _byte_window(data, start + p1, k, base)
    f2 = _byte_window(data, start + p2, k, base)
    f3 = _byte_window(data, start + p3, k, base)
    hashes[0] = f0
    hashes[p1] = f1
    hashes[p2] = f2
    hashes[p3] = f3
    j = np.uint64(1)
    at = start
    while j < part:
        f0 = _multiply(f0, base) + (leaving[data[at]] + np.uint64(data[at + size]))
        hashes[j] = f0
        f1 = _multiply(f1, base) + (leaving[data[at + p1]] + np.uint64(data[at + p1 + size]))
        hashes[j + p1] = f1
        f2 = _multiply(f2, base) + (leaving[data[at + p2]] + np.uint64(data[at + p2 + size]))
        hashes[j + p2] = f2
        f3 = _multiply(f3, base) + (leaving[data[at + p3]] + np.uint64(data[at + p3 + size]))
        hashes[j + p3] = f3
        j += _ONE
        at += _ONE
    j += p3
    at += p3
    while j < windows:
        f3 = _multiply(f3, base) + (leaving[data[at]] + np.uint64(data[at + size]))
        hashes[j] = f3
        j += _ONE
        at += _ONE
    return _finish(hashes, np.int64(windows))


@inner
def _is_ascii(data, start, end):
    bits = np.uint64(0)
    at = start
    while at + _EIGHT <= end:
        bits |= eight_bytes(data, at)
        at += _EIGHT
    while at < end:
        bits |= np.uint64(data[at])
        at += _ONE
    return bits & np.uint64(0x8080808080808080) == 0


@inner
def _all_shingles(data, start, end, unit, k, base, drop, leaving, table, digits, hashes):
    """Write the hash of each shingle in order, and give their number."""
    if start == end:
        return 0
    first, last = np.uint64(start), np.uint64(end)
    if unit == TOKENS:
        for j in range((end - start) // 8):
            hashes[j] = eight_bytes(data, first + np.uint64(8 * j))
        return (end - start) // 8
    if unit == WORDS:
        count = _words(data, first, last, table, hashes, digits)
        if count > 0:
            return _roll(digits, count, k, base, drop, hashes)
        # No words at all: the whole text is the one shingle.
        count = _characters(data, first, last, digits)
        return _roll(digits, count, count, base, drop, hashes)
    if end - start >= k + 4 and _is_ascii(data, first, last):
        count = _roll_bytes(data, first, last, k, base, leaving, hashes)
    else:
        count = _roll(digits, _characters(data, first, last, digits), k, base, drop, hashes)
    if k == 1:
        # The fingerprint of one character is its number: neighbours in the alphabet are too near.
        for j in range(count):
            hashes[j] = _mix(hashes[j])
    return count


@inner
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


@inner
def _is_listed(value, listed):
    if value == 0:
        return listed[len(listed) - 1] != 0
    return listed[_slot(value, listed)] == value


@inner
def _shingles(data, start, end, unit, k, base, drop, leaving, table, ignored, digits, hashes):
    """Write the hash of each shingle that is not ignored, in order, and give their number."""
    count = _all_shingles(data, start, end, unit, k, base, drop, leaving, table, digits, hashes)
    if len(ignored) == 0:
        return count
    kept = 0
    for j in range(count):
        hashes[kept] = hashes[j]
        kept += not _is_listed(hashes[j], ignored)
    return kept


@inner
def _sort_crowded(values, count, spare):
    """Sort by one byte at a time, from the lowest; the result is in `values`."""
    tallies = np.empty(257, np.int64)
    for byte in range(8):
        shift = np.uint64(8 * byte)
        for j in range(257):
            tallies[j] = 0
        for j in range(count):
            tallies[np.int64(values[j] >> shift & np.uint64(0xFF)) + 1] += 1
        for j in range(256):
            tallies[j + 1] += tallies[j]
        for j in range(count):
            digit = np.int64(values[j] >> shift & np.uint64(0xFF))
            spare[tallies[digit]] = values[j]
            tallies[digit] += 1
        for j in range(count):
            values[j] = spare[j]


@inner
def _sort(values, count, spare, tallies):
    """Sort hashes in place, in time that grows with their number alone.

    They are spread evenly by `mix`, so that two scatters, by the lower and the upper half of some
    more upper bits than number them, leave nearly each in its place, and an insertion sort does the
    rest. Where malice has crowded them, so that this would take long, all their bits are sorted by.
    """
    if count < 2:
        return
    half = 1
    while (1 << 2 * half) < 8 * count and half < MOST_BITS:
        half += 1
    high = np.uint64(64 - half)
    low = np.uint64(64 - 2 * half)
    mask = np.uint64((1 << half) - 1)
    # Tallies of the lower half, and after them those of the upper.
    size = 1 << half
    above = np.uint64(size + 1)
    for j in range(2 * size + 2):
        tallies[j] = 0
    for j in range(count):
        tallies[(values[j] >> low & mask) + _ONE] += 1
        tallies[(values[j] >> high) + _ONE + above] += 1
    for j in range(size):
        tallies[j + 1] += tallies[j]
        tallies[size + 2 + j] += tallies[size + 1 + j]
    for j in range(count):
        value = values[j]
        digit = value >> low & mask
        spare[tallies[digit]] = value
        tallies[digit] += 1
    for j in range(count):
        value = spare[j]
        digit = (value >> high) + above
        values[tallies[digit]] = value
        tallies[digit] += 1
    moved = 0
    for j in range(1, count):
        value = values[j]
        i = j
        while i > 0 and values[i - 1] > value:
            values[i] = values[i - 1]
            i -= 1
        values[i] = value
        moved += j - i
        if moved > _CROWDED * count:
            _sort_crowded(values, count, spare)
            return


@inner
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


@inner
def _fill(values, count, a, b, rows, upper, spare):
    """Give each row that no throw reached the minimum of its own hash function."""
    last = np.uint32(ROUNDS << 30)
    for j in range(count):
        upper[j] = np.uint32(values[j] >> _HALF)
    if count >= _FEW:
        # The compiled loop runs over elements where they are many, over rows where they are few.
        for i in range(len(rows)):
            if rows[i] == _EMPTY:
                least = _EMPTY
                for j in range(count):
                    least = min(least, np.uint32(a[i] * upper[j] + b[i]))
                rows[i] = last | least >> np.uint32(2)
        return
    width = min(-(-len(rows) // LANES) * LANES, BLOCK)
    for i in range(width):
        spare[i] = _EMPTY
    # Four elements at a time, so that the row is read and written a quarter as often; those that
    # make up the last four are repeats, which change no minimum.
    for j in range(0, count, 4):
        x0 = upper[j]
        x1 = upper[min(j + 1, count - 1)]
        x2 = upper[min(j + 2, count - 1)]
        x3 = upper[min(j + 3, count - 1)]
        for i in range(width):
            y0 = np.uint32(a[i] * x0 + b[i])
            y1 = np.uint32(a[i] * x1 + b[i])
            y2 = np.uint32(a[i] * x2 + b[i])
            y3 = np.uint32(a[i] * x3 + b[i])
            spare[i] = min(spare[i], min(min(y0, y1), min(y2, y3)))
    # These are greater than what any throw leaves, so that rows which are not empty stay.
    for i in range(len(rows)):
        rows[i] = min(rows[i], last | spare[i] >> np.uint32(2))


@inner
def _throw(values, count, factor, term, above, rows):
    """Put each element in one row of a block, where the least stays; `above` is the throw's."""
    for j in range(count):
        y = values[j] * factor + term
        place = y >> np.uint64(57)
        rows[place] = min(rows[place], above | (np.uint32(y) & np.uint32(0x3FFFFFFF)))


@inner
def _throw_all(values, count, factors, terms, rows):
    """Make all three throws of a block at once."""
    f0, f1, f2 = factors[0], factors[1], factors[2]
    t0, t1, t2 = terms[0], terms[1], terms[2]
    value = np.uint32(0x3FFFFFFF)
    for j in range(count):
        x = values[j]
        y = x * f0 + t0
        place = y >> np.uint64(57)
        rows[place] = min(rows[place], np.uint32(y) & value)
        y = x * f1 + t1
        place = y >> np.uint64(57)
        rows[place] = min(rows[place], np.uint32(1 << 30) | (np.uint32(y) & value))
        y = x * f2 + t2
        place = y >> np.uint64(57)
        rows[place] = min(rows[place], np.uint32(2 << 30) | (np.uint32(y) & value))


@inner
def _is_full(rows):
    greatest = np.uint32(0)
    for i in range(len(rows)):
        greatest = max(greatest, rows[i])
    return greatest != _EMPTY


@inner
def _sign(values, count, factors, terms, a, b, row, needed, upper, spare):
    """Write the first `needed` rows of the signature of some elements, in blocks of rows.

    A throw spreads the elements over the rows of a block, and each row takes the least that fell
    there. Further throws, whose values are greater than any before, fill the rows that are empty;
    where few elements leave some empty anyway, all throws are made in one go.
    """
    for i in range(len(row)):
        row[i] = _EMPTY
    if count == 0:
        return
    for block in range(len(row) // BLOCK):
        begin = block * BLOCK
        rows = row[begin : min(begin + BLOCK, needed)]
        all_rows = row[begin : begin + BLOCK]
        first = block * ROUNDS
        if count < _ENOUGH:
            _throw_all(values, count, factors[first:], terms[first:], all_rows)
        else:
            for throw in range(first, first + ROUNDS):
                above = np.uint32((throw - first) << 30)
                _throw(values, count, factors[throw], terms[throw], above, all_rows)
                if _is_full(rows):
                    break
        if not _is_full(rows):
            _fill(values, count, a[begin:], b[begin:], rows, upper, spare)


@kernel
def sign_texts(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    leaving,
    table,
    ignored,
    factors,
    terms,
    a,
    b,
    room,
    out,
    counts,
):
    """Write the signature and the number of shingles of each chosen document.

    `room` is at least the bytes of the longest one, plus one; `a` and `b` have whole
    blocks of rows.
    """
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    row = np.empty(len(a), np.uint32)
    upper = np.empty(room, np.uint32)
    spare = np.empty(BLOCK, np.uint32)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
        )
        counts[i] = count
        _sign(values, count, factors, terms, a, b, row, out.shape[1], upper, spare)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def fold_texts(
    data, offsets, chosen, unit, k, base, drop, leaving, table, ignored, fold, room, out, counts
):
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
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
        )
        counts[i] = count
        row = out[i]
        for j in range(count):
            x = _mix(values[j] ^ fold)
            row[x >> shift] += np.float32(1) - np.float32(2) * np.float32(x & _ONE)


@kernel
def print_texts(
    data, offsets, chosen, unit, k, base, drop, leaving, table, ignored, room, out, counts
):
    """Write the 64-bit fingerprint of each chosen document: the majority of each bit.

    Bit i of all hashes is counted at once: plane p holds bit p of each of the 64 counts.
    """
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    planes = np.empty(40, np.uint64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
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
def token_sets(data, places, ends, multiset, room, out, out_offsets):
    """Write each document's token hashes, sorted, as little-endian words; distinct in a set.

    Token j is the bytes from `places[j]` to `places[j + 1]`; document i has the tokens up to
    `ends[i]` that none before it has, `room` at the most.
    """
    values = np.empty(room, np.uint64)
    spare = np.empty(room, np.uint64)
    tallies = np.empty(TALLIES, np.int64)
    token = np.int64(0)
    at = np.int64(0)
    for i in range(len(ends)):
        count = ends[i] - token
        for j in range(count):
            values[j] = _mix(
                _bytes_hash(data, np.uint64(places[token]), np.uint64(places[token + 1]))
            )
            token += 1
        _sort(values, count, spare, tallies)
        for j in range(count):
            if multiset or j == 0 or values[j] != values[j - 1]:
                for byte in range(8):
                    out[at + byte] = values[j] >> np.uint64(8 * byte) & np.uint64(0xFF)
                at += 8
        out_offsets[i + 1] = at


@kernel
def sign_elements(elements, offsets, factors, terms, a, b, room, out):
    """Write the signature of each set of elements, `room` of them at the most."""
    row = np.empty(len(a), np.uint32)
    upper = np.empty(room, np.uint32)
    spare = np.empty(BLOCK, np.uint32)
    for i in range(len(offsets) - 1):
        values = elements[offsets[i] : offsets[i + 1]]
        _sign(values, len(values), factors, terms, a, b, row, out.shape[1], upper, spare)
        for j in range(out.shape[1]):
            out[i, j] = row[j]


@kernel
def lowest_bits(signatures, out):
    """Write the two lowest bits of so many rows, sixteen rows a word, the first lowest."""
    for i in range(len(signatures)):
        for word in range(out.shape[1]):
            bits = np.uint32(0)
            for j in range(16):
                lowest = signatures[i, 16 * word + j] & np.uint32(3)
                bits |= np.uint32(lowest << np.uint32(2 * j))
            out[i, word] = bits


@kernel
def list_shingles(
    data, offsets, chosen, unit, k, base, drop, leaving, table, ignored, room, out, out_offsets
):
    """Write the hashes of the chosen documents' shingles, in the order of the text."""
    digits = np.empty(room, np.uint64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        values = out[out_offsets[i] :]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
        )
        out_offsets[i + 1] = out_offsets[i] + count


@kernel
def element_sets(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    leaving,
    table,
    ignored,
    multiset,
    room,
    out,
    out_offsets,
):
    """Write the sorted, distinct elements of the chosen documents one after the other."""
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    tallies = np.empty(TALLIES, np.int64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
        )
        # The digits have done their work; the sort takes their room.
        count = _elements(values, count, multiset, digits, tallies)
        at = out_offsets[i]
        for j in range(count):
            out[at + j] = values[j]
        out_offsets[i + 1] = at + count


@kernel
def bags(
    data,
    offsets,
    chosen,
    unit,
    k,
    base,
    drop,
    leaving,
    table,
    ignored,
    room,
    out,
    out_counts,
    out_offsets,
):
    """Write the sorted, distinct shingles of the chosen documents, and how often each occurs."""
    digits = np.empty(room, np.uint64)
    values = np.empty(room, np.uint64)
    tallies = np.empty(TALLIES, np.int64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        count = _shingles(
            data, start, end, unit, k, base, drop, leaving, table, ignored, digits, values
        )
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
