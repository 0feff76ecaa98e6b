"""Raw UTF-8 to canonical UTF-8, and its content fingerprint.

Text is taken by blocks of 64 bytes (see `blocks`), most of which are written as they are but for
capitals; the characters that ask for more are looked up one by one.
"""

import numpy as np

from lookalike.kernels.blocks import (
    blank_bits,
    eight_bytes,
    high_bits,
    lead_bits,
    long_bits,
    longest_bits,
    quiet_pair_bits,
    quiet_triple_bits,
    write_plain,
)
from lookalike.kernels.jit import inner, kernel, ones, trailing_zeros
from lookalike.kernels.mixing import GOLDEN, mix

ASCII, SIMPLE, COMPLEX, INVALID = 0, 1, 2, 3

PADDING_BYTES = 64
"""Bytes that canonical text needs behind its end, since blocks are written whole."""

BLANK = np.uint8(32)

_LOWER = np.uint32((1 << 21) - 1)
_MARK = np.uint32(1 << 22)
_SPACE = np.uint32(1 << 26)
_COMPLEX = np.uint32(1 << 29)

_ZERO, _ONE, _TWO, _THREE, _EIGHT = (np.uint64(n) for n in (0, 1, 2, 3, 8))
_LAST = np.uint64(63)
_LAST_BIT, _LAST_BUT_ONE, _LAST_BUT_TWO = (np.uint64(1 << n) for n in (63, 62, 61))
_BLOCK = np.uint64(64)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

_FIRST = np.uint64(0xD6E8FEB86659FD93)
_SECOND = np.uint64(0xA0761D6478BD642F)
_SALT = np.uint64(0xC2B2AE3D27D4EB4F)


@inner
def _checked(data, at, end):
    """Give the code point at a byte and its length in bytes, 0 where it is not valid UTF-8."""
    lead = np.uint32(data[at])
    if lead < 0x80:
        return lead, _ONE
    if lead < 0xC2 or lead > 0xF4 or at + _ONE >= end:
        return lead, _ZERO
    second = np.uint32(data[at + _ONE] ^ 0x80)
    if second > 0x3F:
        return lead, _ZERO
    if lead < 0xE0:
        return np.uint32((lead & 0x1F) << 6 | second), _TWO
    if at + _TWO >= end:
        return lead, _ZERO
    third = np.uint32(data[at + _TWO] ^ 0x80)
    if third > 0x3F:
        return lead, _ZERO
    if lead < 0xF0:
        point = np.uint32((lead & 0x0F) << 12 | second << 6 | third)
        return point, _ZERO if point < 0x800 or point >> 11 == 0x1B else _THREE
    if at + _THREE >= end:
        return lead, _ZERO
    fourth = np.uint32(data[at + _THREE] ^ 0x80)
    point = np.uint32((lead & 0x07) << 18 | second << 12 | third << 6 | fourth)
    if fourth > 0x3F or point < 0x10000 or point > 0x10FFFF:
        return lead, _ZERO
    return point, np.uint64(4)


@inner
def _write(point, out, at):
    """Write a code point as UTF-8 and give its length in bytes."""
    if point < 0x80:
        out[at] = point
        return _ONE
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + _ONE] = 0x80 | (point & 0x3F)
        return _TWO
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + _ONE] = 0x80 | (point >> 6 & 0x3F)
        out[at + _TWO] = 0x80 | (point & 0x3F)
        return _THREE
    out[at] = 0xF0 | point >> 18
    out[at + _ONE] = 0x80 | (point >> 12 & 0x3F)
    out[at + _TWO] = 0x80 | (point >> 6 & 0x3F)
    out[at + _THREE] = 0x80 | (point & 0x3F)
    return np.uint64(4)


@kernel
def canonical(
    data,
    offsets,
    table,
    classes,
    ascii_map,
    blanks,
    complex_flags,
    cased,
    plain,
    out,
    out_offsets,
    kinds,
    characters,
):
    """Write each document's canonical text after the one before it, and say what it was.

    A document is ASCII, simple, complex (see `unicode`) or invalid. Of the last two nothing is
    written, and what stands behind the first complex character is not looked at; of the others,
    `characters` takes how many there were.

    `ascii_map` gives a byte below 128 its canonical byte; `blanks` is the flags that make a code
    point count as a blank; `complex_flags`, those that can make a document complex, none where it
    is known to be composed; `cased` keeps the case; `plain` takes all but ASCII for complex. `out`
    has room for the documents and PADDING_BYTES: no canonical text is longer than its document,
    since the two letters whose lower case is longer count as complex.
    """
    at = _ZERO
    readable = np.uint64(len(data))
    by_blocks = blanks == _SPACE
    case = np.uint8(0) if cased else np.uint8(0x20)
    for i in range(len(kinds)):
        begin = at
        j = np.uint64(offsets[i])
        end = np.uint64(offsets[i + 1])
        kind = ASCII
        after_blank = _ONE
        last = np.uint8(0)
        mark_end = _ZERO
        continuations = np.int64(0)
        while j < end:
            if by_blocks and j + _BLOCK + _TWO <= readable:
                stop = end - j if end - j < _BLOCK else _BLOCK
                inside = _ALL >> (_BLOCK - stop)
                white = blank_bits(data, j) & inside
                high = high_bits(data, j) & inside
                write_plain(data, j, out, at, case)
                again = white & (white << _ONE | after_blank)
                skipped = _ZERO
                if again:
                    stop = trailing_zeros(again)
                    run = ~(again >> stop)
                    skipped = trailing_zeros(run) if run else _BLOCK
                alone = False
                if high:
                    if plain:
                        kind = COMPLEX
                        break
                    kind = SIMPLE
                    lead = lead_bits(data, j) & inside
                    long = long_bits(data, j) & inside
                    longest = longest_bits(data, j) & inside
                    # A character that reaches over the end of the block is left to the next one.
                    over = lead & _LAST_BIT | long & _LAST_BUT_ONE | longest & _LAST_BUT_TWO
                    if over and stop == _BLOCK:
                        stop = trailing_zeros(over)
                    # At the stop itself stands no continuation: it is asked whether one is missing.
                    upto = _ALL if stop == _BLOCK else _ALL >> (_LAST - stop)
                    continuation = high & ~lead
                    expected = lead << _ONE | long << _TWO | longest << _THREE
                    if (continuation ^ expected) & upto:
                        kind = INVALID
                        break
                    subtle = _ZERO
                    if long:
                        subtle = long & ~quiet_triple_bits(data, j)
                    if lead != long:
                        subtle |= (lead ^ long) & ~quiet_pair_bits(data, j)
                    subtle &= upto >> _ONE
                    while subtle:
                        k = trailing_zeros(subtle)
                        subtle &= subtle - _ONE
                        point, length = _checked(data, j + k, end)
                        record = table[point]
                        lower = point if cased else record & _LOWER
                        if (
                            record & (_SPACE | complex_flags)
                            or _write(lower, out, at + k) != length
                        ):
                            stop = k
                            upto = _ALL >> (_LAST - k)
                            skipped = _ZERO
                            alone = True
                            break
                    continuations += ones(continuation & upto)
                if stop:
                    after_blank = white >> (stop - _ONE) & _ONE
                at += stop
                j += stop + skipped
                if not alone:
                    continue
            if data[j] < 0x80:
                byte = ascii_map[data[j]]
                out[at] = byte
                blank = np.uint64(byte == BLANK)
                at += _ONE - (blank & after_blank)
                after_blank = blank
                j += _ONE
                continue
            point, length = _checked(data, j, end)
            record = table[point]
            if length == _ZERO:
                kind = INVALID
                break
            if plain or record & complex_flags & _COMPLEX:
                kind = COMPLEX
                break
            if record & complex_flags & _MARK:
                # Marks that follow each other stand in the order of their classes.
                if j == mark_end and classes[point] < last:
                    kind = COMPLEX
                    break
                last = classes[point]
                mark_end = j + length
            if record & blanks:
                out[at] = BLANK
                at += _ONE - after_blank
                after_blank = _ONE
            else:
                written = _write(point if cased else record & _LOWER, out, at)
                if written > length:
                    kind = COMPLEX
                    break
                at += written
                after_blank = _ZERO
            kind = SIMPLE
            continuations += np.int64(length) - 1
            j += length
        if kind > SIMPLE:
            at = begin
        elif at > begin:
            at -= after_blank
        kinds[i] = kind
        characters[i] = offsets[i + 1] - offsets[i] - continuations
        out_offsets[i + 1] = at


@inner
def _folded(first, second, word):
    first = (first ^ word) * _FIRST
    second = (second + word) * _SECOND
    return first ^ first >> np.uint64(32), second ^ second >> np.uint64(29)


@kernel
def fingerprints(data, offsets, out):
    """Give each document the 128 bits of its content; products wrap at 64 bits.

    Each word of a document waits for the word before it, so that two documents go side by side; the
    shorter one makes room for the next.
    """
    readable = np.uint64(len(data))
    count = len(offsets) - 1
    row = -1
    at = end = first = second = _ZERO
    for next_row in range(count + 1):
        next_at = next_end = _ZERO
        if next_row < count:
            next_at, next_end = np.uint64(offsets[next_row]), np.uint64(offsets[next_row + 1])
        next_first = (next_end - next_at) * GOLDEN
        next_second = (next_end - next_at) ^ _SALT
        words = min(end - at, next_end - next_at) >> _THREE
        while words:
            words -= _ONE
            first, second = _folded(first, second, eight_bytes(data, at))
            next_first, next_second = _folded(next_first, next_second, eight_bytes(data, next_at))
            at += _EIGHT
            next_at += _EIGHT
        if next_end - next_at < end - at and next_row < count:
            row, next_row = next_row, row
            at, next_at, end, next_end = next_at, at, next_end, end
            first, next_first, second, next_second = next_first, first, next_second, second
        while at < end:
            word = _ZERO
            if at + _EIGHT <= readable:
                word = eight_bytes(data, at)
                if at + _EIGHT > end:
                    word &= (_ONE << (end - at << _THREE)) - _ONE
            else:
                place = end
                while place > at:
                    place -= _ONE
                    word = word << _EIGHT | data[place]
            first, second = _folded(first, second, word)
            at += _EIGHT
        if row >= 0:
            out[row, 0], out[row, 1] = mix(first), mix(second)
        row, at, end, first, second = next_row, next_at, next_end, next_first, next_second


@kernel
def same_texts(data, offsets, first, second, out):
    """Tell of each pair of documents whether they are the same, byte for byte."""
    for pair in range(len(first)):
        a = data[offsets[first[pair]] : offsets[first[pair] + 1]]
        b = data[offsets[second[pair]] : offsets[second[pair] + 1]]
        same = len(a) == len(b)
        if same:
            differing = np.uint8(0)
            for j in range(len(a)):
                differing = np.uint8(differing | (a[j] ^ b[j]))
            same = differing == 0
        out[pair] = same


@kernel
def gather(data, starts, offsets, out):
    """Copy spans of the data one after the other; the offsets say where each goes."""
    for i in range(len(starts)):
        source = data[starts[i] : starts[i] + offsets[i + 1] - offsets[i]]
        target = out[offsets[i] : offsets[i + 1]]
        for j in range(len(target)):
            target[j] = source[j]
