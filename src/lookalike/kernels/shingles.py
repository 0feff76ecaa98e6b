"""Canonical text to the hashes of its shingles, in one skip the bytes.

`docs/hashing.md` defines every number made here. Fingerprints are modulo the Mersenne prime
2^61 - 1, where 2^61 = 1 makes a remainder of two shifts and a sum.

Arrays are copied by loops: an assignment to a slice takes the compiler seconds.
"""

import numpy as np

from lookalike.kernels.blocks import eight_bytes
from lookalike.kernels.jit import inner, kernel, multiply_high
from lookalike.kernels.lanes import COLUMNS, LANES, bring_columns, roll_columns
from lookalike.kernels.mixing import PRIME, mix
from lookalike.kernels.words import characters, words

CHARS, WORDS, TOKENS = 0, 1, 2
# Python's own truth values would be compiled each by itself.
ANY_ORDER, IN_ORDER = np.bool_(False), np.bool_(True)

_NONE, _ONE = np.uint64(0), np.uint64(1)
_EIGHT = np.uint64(8)
_MIN_WINDOWS = np.uint64(8)
_HALF = np.uint64(32)


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
def _window(digits, start, k, base):
    f = np.uint64(0)
    for j in range(start, start + k):
        f = _multiply(f, base) + digits[j]
    return f


@inner
def _finish(hashes, first, count):
    """Make hashes of fingerprints that are not yet reduced; a loop of its own runs in vectors."""
    # From an unsigned place: one that might be negative is looked at every time.
    for j in range(first, count):
        x = (hashes[j] & PRIME) + (hashes[j] >> np.uint64(61))
        # What is the prime or more is so if one more is 2^61 or more: this spares a comparison.
        hashes[j] = _spread((x + ((x + _ONE) >> np.uint64(61))) & PRIME)
    return np.int64(count)


@inner
def _roll(digits, count, k, base, drop, hashes):
    """Write the hash of each window of k digits, and give their number.

    `drop` is the prime less base^k: what a digit's leaving adds, times the digit. It and the base
    are given eightfold. Sums are left unreduced from step to step: the base is below 2^58, so that
    they stay below 2^64. Two windows roll at once, one from the start and one from the middle,
    because each step waits for the last.
    """
    if count <= k:
        hashes[0] = _window(digits, np.int64(0), count, base)
        return _finish(hashes, _NONE, _ONE)
    windows = np.uint64(count - k + 1)
    size, half = np.uint64(k), windows >> _ONE
    first = _window(digits, np.int64(0), k, base)
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
    return _finish(hashes, _NONE, windows)


@inner
def _roll_ascii(data, start, end, k, base, drop, scratch, hashes):
    """Write the hash of each window of k characters of ASCII, and give their number.

    Eight windows roll at once, each through an eighth: window j of part p is at 8 j + p, and those
    that are left over are at the end. There are k of them or more in a part.
    """
    size, lanes = np.uint64(k), np.uint64(LANES)
    columns = scratch.view(np.uint8)
    windows = end - start - size + _ONE
    part = windows >> np.uint64(3)
    last = start + part * (lanes - _ONE)
    for place in range(LANES * k):
        columns[place] = 0
    j = np.uint64(0)
    while j + _ONE < part + size:
        to = (j + size) * lanes
        if last + j + np.uint64(COLUMNS) <= np.uint64(len(data)):
            bring_columns(data, start + j, part, columns, to)
            j += np.uint64(COLUMNS)
        else:
            for lane in range(LANES):
                columns[to + np.uint64(lane)] = data[start + np.uint64(lane) * part + j] + 1
            j += _ONE
    f = roll_columns(columns, np.int64(k), np.int64(part), base, drop, hashes)
    j = done = part * lanes
    while j < windows:
        at = start + j
        change = _multiply(np.uint64(data[at - _ONE]) + _ONE, drop) + _ONE
        f = _multiply(f, base) + (change + np.uint64(data[at + size - _ONE]))
        hashes[j] = f
        j += _ONE
    return _finish(hashes, done, windows)


@inner
def _goes_in_lanes(data, start, end, k):
    """Tell whether a text is ASCII, and has as many windows as eight of them need to roll."""
    size = np.uint64(k)
    if end - start < (size if size > _MIN_WINDOWS else _MIN_WINDOWS) * np.uint64(LANES) + size:
        return False
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
def shingles(data, start, end, unit, k, base, drop, table, ignored, in_order, digits, hashes):
    """Write the hash of each shingle that is not ignored, and give their number.

    They stand in the order of the text if that is asked for: who makes a set needs none.
    """
    first, last = np.uint64(start), np.uint64(end)
    count = 0
    if start == end:
        return count
    if unit == TOKENS:
        count = (end - start) // 8
        for j in range(count):
            hashes[j] = eight_bytes(data, first + np.uint64(8 * j))
    elif unit == WORDS:
        count = words(data, first, last, table, hashes, digits)
        if count == 0:
            # No words at all: the whole text is the one shingle.
            count = k = characters(data, first, last, digits)
        count = _roll(digits, count, k, base, drop, hashes)
    elif not in_order and _goes_in_lanes(data, first, last, k):
        count = _roll_ascii(data, first, last, k, base, drop, digits, hashes)
    else:
        count = _roll(digits, characters(data, first, last, digits), k, base, drop, hashes)
    if unit == CHARS and k == 1:
        # The fingerprint of one character is its number: neighbours in the alphabet are too near.
        for j in range(count):
            hashes[j] = mix(hashes[j])
    if len(ignored) == 0:
        return count
    kept = 0
    for j in range(count):
        hashes[kept] = hashes[j]
        kept += not _is_listed(hashes[j], ignored)
    return kept


@kernel
def list_shingles(
    data, offsets, chosen, unit, k, base, drop, table, ignored, capacity, out, out_offsets
):
    """Write the hashes of the chosen documents' shingles, in the order of the text."""
    digits = np.empty(capacity, np.uint64)
    for i in range(len(chosen)):
        start, end = offsets[chosen[i]], offsets[chosen[i] + 1]
        values = out[out_offsets[i] :]
        count = shingles(
            data, start, end, unit, k, base, drop, table, ignored, IN_ORDER, digits, values
        )
        out_offsets[i + 1] = out_offsets[i] + count
