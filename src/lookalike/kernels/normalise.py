"""Raw UTF-8 to canonical UTF-8, and its content fingerprint."""

import numpy as np

from lookalike.kernels.jit import kernel

ASCII, SIMPLE, COMPLEX, INVALID = 0, 1, 2, 3

BLANK = np.uint8(32)

_LOWER = np.uint32((1 << 21) - 1)
_MARK = np.uint32(1 << 22)
_COMPLEX = np.uint32(1 << 29)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xD6E8FEB86659FD93)
_SECOND = np.uint64(0xA0761D6478BD642F)
_SALT = np.uint64(0xC2B2AE3D27D4EB4F)


@kernel
def _checked(doc, at):
    """Give the code point at a byte and its length in bytes, 0 where it is not valid UTF-8."""
    lead = doc[at]
    length = 1 + (lead >= 0x80) + (lead >= 0xE0) + (lead >= 0xF0)
    if at + length > len(doc) or 0x80 <= lead < 0xC2 or lead > 0xF4:
        return np.uint32(0), 0
    point, length = _trusted(doc, at)
    stray = 0
    for j in range(1, length):
        stray |= (doc[at + j] & 0xC0) ^ 0x80
    if stray:
        return point, 0
    if length == 3 and (point < 0x800 or point >> 11 == 0x1B):
        return point, 0
    if length == 4 and (point < 0x10000 or point > 0x10FFFF):
        return point, 0
    return point, length


@kernel
def _trusted(doc, at):
    """Give the code point at a byte of valid UTF-8 and its length in bytes."""
    lead = np.uint32(doc[at])
    if lead < 0x80:
        return lead, 1
    second = np.uint32(doc[at + 1] & 0x3F)
    if lead < 0xE0:
        return np.uint32((lead & 0x1F) << 6 | second), 2
    third = np.uint32(doc[at + 2] & 0x3F)
    if lead < 0xF0:
        return np.uint32((lead & 0x0F) << 12 | second << 6 | third), 3
    fourth = np.uint32(doc[at + 3] & 0x3F)
    return np.uint32((lead & 0x07) << 18 | second << 12 | third << 6 | fourth), 4


@kernel
def scan(data, starts, ends, table, classes, kinds, where):
    """Say of each document whether it is ASCII, simple, complex (see `unicode`) or invalid.

    `where` takes the offset, within the document, of the first invalid byte.
    """
    for i in range(len(starts)):
        doc = data[starts[i] : ends[i]]
        bits = np.uint8(0)
        for at in range(len(doc)):
            bits = np.uint8(bits | doc[at])
        if bits < 0x80:
            kinds[i] = ASCII
            continue
        kind = SIMPLE
        last = np.uint8(0)
        place = np.int64(0)
        while place < len(doc):
            if doc[place] < 0x80:
                last = np.uint8(0)
                place += 1
                continue
            point, length = _checked(doc, place)
            if length == 0:
                kind = INVALID
                where[i] = place
                break
            place += length
            record = table[point]
            if record & _COMPLEX:
                kind = COMPLEX
            elif record & _MARK:
                if classes[point] < last:
                    kind = COMPLEX
                last = classes[point]
            else:
                last = np.uint8(0)
        kinds[i] = kind


@kernel
def _write(point, out, at):
    """Write a code point as UTF-8 and give its length in bytes."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    if point < 0x80:
        out[at] = point
        return one
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + one] = 0x80 | (point & 0x3F)
        return two
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + one] = 0x80 | (point >> 6 & 0x3F)
        out[at + two] = 0x80 | (point & 0x3F)
        return three
    out[at] = 0xF0 | point >> 18
    out[at + one] = 0x80 | (point >> 12 & 0x3F)
    out[at + two] = 0x80 | (point >> 6 & 0x3F)
    out[at + three] = 0x80 | (point & 0x3F)
    return np.uint64(4)


@kernel
def canonical(data, starts, ends, kinds, table, ascii_map, blanks, lowered, out, out_offsets):
    """Write each document's canonical text after the one before it.

    `ascii_map` gives a byte below 128 its canonical byte; `blanks` is the flags that make a code
    point count as a blank; a document that is `lowered` keeps the case it has. `out` holds at least
    half as many bytes again as the documents, since two bytes can have three as their lower case.
    """
    at = np.uint64(0)
    one = np.uint64(1)
    for i in range(len(starts)):
        begin = at
        doc = data[starts[i] : ends[i]]
        after_blank = one
        if kinds[i] == ASCII:
            for j in range(len(doc)):
                byte = ascii_map[doc[j]]
                out[at] = byte
                blank = np.uint64(byte == BLANK)
                at += one - (blank & after_blank)
                after_blank = blank
        else:
            j = 0
            while j < len(doc):
                if doc[j] < 0x80:
                    byte = ascii_map[doc[j]]
                    out[at] = byte
                    blank = np.uint64(byte == BLANK)
                    at += one - (blank & after_blank)
                    after_blank = blank
                    j += 1
                    continue
                point, length = _trusted(doc, j)
                j += length
                record = table[point]
                if record & blanks:
                    out[at] = BLANK
                    at += one - after_blank
                    after_blank = one
                else:
                    at += _write(point if lowered[i] else record & _LOWER, out, at)
                    after_blank = np.uint64(0)
        if at > begin:
            at -= after_blank
        out_offsets[i + 1] = at


@kernel
def _mix(x):
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def fingerprints(data, offsets, out):
    """Give each document the 128 bits of its content; products wrap at 64 bits."""
    for i in range(len(offsets) - 1):
        doc = data[offsets[i] : offsets[i + 1]]
        length = np.uint64(len(doc))
        first = length * _GOLDEN
        second = length ^ _SALT
        whole = len(doc) // 8
        for chunk in range(whole + (len(doc) % 8 != 0)):
            word = np.uint64(0)
            if chunk < whole:
                for j in range(8):
                    word |= np.uint64(doc[8 * chunk + j]) << np.uint64(8 * j)
            else:
                for j in range(len(doc) - 8 * whole):
                    word |= np.uint64(doc[8 * whole + j]) << np.uint64(8 * j)
            first = (first ^ word) * _FIRST
            first ^= first >> np.uint64(32)
            second = (second + word) * _SECOND
            second ^= second >> np.uint64(29)
        out[i, 0] = _mix(first)
        out[i, 1] = _mix(second)


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
