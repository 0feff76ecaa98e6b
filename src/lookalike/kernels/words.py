"""Canonical text to characters, and to the hashes of its words."""

import numpy as np

from lookalike.kernels.blocks import eight_bytes, high_bits, word_bits
from lookalike.kernels.jit import inner, kernel, ones, trailing_zeros
from lookalike.kernels.mixing import GOLDEN, PRIME

_WORD_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_WORD = np.uint32(1 << 24)
_SINGLE = np.uint32(1 << 25)
_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_SHORT = np.uint64(16)
_HALF = np.uint64(32)
_BYTES = np.uint64(64)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


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
def characters(data, start, end, digits):
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
def bytes_hash(data, start, end):
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
    size, capacity = np.uint64(len(data)), np.uint64(len(places))
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
        if count + _BYTES <= capacity:
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


@inner
def _word_places(data, start, end, table, places):
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


@kernel
def word_places(data, start, end, table, places):
    """Write the first byte of each word and the one after its last, and give the words' number."""
    return _word_places(data, start, end, table, places)


@inner
def _reduce(x):
    """Give the remainder of any 64-bit word."""
    x = (x & PRIME) + (x >> np.uint64(61))
    return x - PRIME if x >= PRIME else x


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
        longest = length if length > longest else longest
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
def words(data, start, end, table, places, digits):
    """Write the hash of each word, and give their number; `places` has room for two a word."""
    count = _word_places(data, start, end, table, places)
    done, longest = np.uint64(0), end - start
    if count > 0 and places[2 * count - 2] + _SHORT <= np.uint64(len(data)):
        done, longest = _SHORT, _hash_short_words(data, places, count, digits)
    if longest > done:
        for j in range(count):
            first, last = places[2 * j], places[2 * j + 1]
            if last - first > done:
                digits[j] = bytes_hash(data, first, last)
    for j in range(count):
        digits[j] = _reduce(digits[j])
    return count
