"""Pages of HTML to what a reader reads of them: tags are told apart, no tree is built.

Every part goes on from where the one before it stopped, so that each byte is looked at a few times,
whatever the page.
"""

import numpy as np

from lookalike.kernels.jit import inner, kernel

INLINE = 1
"""It does not end a line."""
SILENT = 2
"""Nobody reads what it holds."""
IN_HEAD = 4
"""It may stand in the head of a page without ending it."""
RAW = 8
"""It holds no tags, and nobody reads what it holds."""
PLAIN = 16
"""It holds no tags, and is read."""
HEAD, HTML, TITLE, PRE, SVG = 32, 64, 128, 256, 512

_TAB, _NEWLINE, _FEED, _RETURN, _BLANK = 9, 10, 12, 13, 32
_BANG, _QUOTE, _HASH, _AMPERSAND, _APOSTROPHE, _DASH, _SLASH = 33, 34, 35, 38, 39, 45, 47
_SEMICOLON, _LESS, _EQUALS, _GREATER, _QUESTION = 59, 60, 61, 62, 63

_BEFORE_NAME, _IN_NAME, _AFTER_NAME, _BEFORE_VALUE, _IN_VALUE = range(5)
_REFERENCE = 40
"""Bytes of a character reference, at the most."""


@inner
def _is_white(byte):
    return byte == _BLANK or byte == _NEWLINE or byte == _TAB or byte == _RETURN or byte == _FEED


@inner
def _is_letter(byte):
    return np.uint8((byte | np.uint8(32)) - np.uint8(97)) < 26


@inner
def _name(data, at):
    """Give a name in lower case, packed into a word, and where it ends; 0 for more than 8 bytes."""
    key = np.uint64(0)
    start = at
    while at < len(data):
        byte = data[at]
        if byte == _GREATER or byte == _SLASH or _is_white(byte):
            break
        lower = byte | np.uint8(32) if _is_letter(byte) else byte
        key = key << np.uint64(8) | np.uint64(lower)
        at += 1
    return key if at - start <= 8 else np.uint64(0), at


@inner
def _tag_end(data, at):
    """Give where the next data begins after the name of a tag, and whether it is closed by />.

    -1 where the page ends before the tag does.
    """
    state = _BEFORE_NAME
    slash = False
    while at < len(data):
        byte = data[at]
        at += 1
        if byte == _GREATER:
            return at, slash
        slash = byte == _SLASH and state != _IN_VALUE and state != _BEFORE_VALUE
        if slash:
            state = _BEFORE_NAME
        elif state == _BEFORE_VALUE and (byte == _QUOTE or byte == _APOSTROPHE):
            while at < len(data) and data[at] != byte:
                at += 1
            at += 1
            state = _BEFORE_NAME
        elif _is_white(byte):
            if state == _IN_NAME:
                state = _AFTER_NAME
            elif state == _IN_VALUE:
                state = _BEFORE_NAME
        elif state == _BEFORE_VALUE:
            state = _IN_VALUE
        elif byte == _EQUALS and (state == _IN_NAME or state == _AFTER_NAME):
            state = _BEFORE_VALUE
        elif state == _BEFORE_NAME or state == _AFTER_NAME:
            state = _IN_NAME
    return -1, False


@inner
def _declaration_end(data, at):
    """Give where the next data begins after a comment, a doctype or what is none of these."""
    size = len(data)
    if not (at + 3 < size and data[at + 1] == _BANG and data[at + 2] == data[at + 3] == _DASH):
        at += 2
        while at < size and data[at] != _GREATER:
            at += 1
        return at + 1
    at += 4
    if at < size and data[at] == _GREATER:
        return at + 1
    if at + 1 < size and data[at] == _DASH and data[at + 1] == _GREATER:
        return at + 2
    while at + 2 < size:
        if data[at] == _DASH and data[at + 1] == _DASH:
            if data[at + 2] == _GREATER:
                return at + 3
            if data[at + 2] == _BANG and at + 3 < size and data[at + 3] == _GREATER:
                return at + 4
        at += 1
    return size


@inner
def _end_tag(data, at, key):
    """Give where the end tag of an element that holds no tags begins; -1 for none."""
    while at + 1 < len(data):
        if data[at] == _LESS and data[at + 1] == _SLASH:
            # A name ends before the next slash, so none is looked at twice.
            found, after = _name(data, at + 2)
            if found == key and after < len(data):
                return at
        at += 1
    return -1


@inner
def _line(out, count):
    """End the line, if it holds anything."""
    while count > 0 and (out[count - 1] == _BLANK or out[count - 1] == _TAB):
        count -= 1
    if count > 0 and out[count - 1] != _NEWLINE:
        out[count] = _NEWLINE
        count += 1
    return count


@inner
def _write(data, at, end, preformatted, out, count):
    """Write text, runs of white space as one blank."""
    while at < end:
        byte = data[at]
        at += 1
        if preformatted and (byte == _NEWLINE or byte == _RETURN):
            count = _line(out, count)
        elif _is_white(byte):
            last = out[count - 1] if count > 0 else np.uint8(_NEWLINE)
            if last != _NEWLINE and (preformatted or last != _BLANK):
                out[count] = byte if preformatted else np.uint8(_BLANK)
                count += 1
        elif byte != 0:
            out[count] = byte
            count += 1
    return count


@inner
def _seam(out, count):
    """Write a zero where a tag stands within what would be a character reference without it."""
    at = count - 1
    low = count - _REFERENCE
    while at >= 0 and at > low:
        byte = out[at]
        if byte == _AMPERSAND:
            out[count] = 0
            return count + 1
        if not (_is_letter(byte) or byte == _HASH or 48 <= byte <= 57):
            return count
        at -= 1
    return count


@kernel
def visible_text(data, names, kinds, stack, out):
    """Write what a reader reads of a page in UTF-8, and give how many bytes that is.

    `names` are packed and sorted, `kinds` what is known of each. Character references stay as they
    are; a zero stands between what would else become one.
    """
    size = len(data)
    open_silent = np.zeros(len(names), np.int64)
    unclosed = np.zeros(len(names), np.uint8)
    depth, preformatted, in_svg = 0, 0, 0
    in_head, in_title = False, False
    count, at = 0, 0
    while at < size:
        start = at
        if data[at] != _LESS:
            while at < size and data[at] != _LESS:
                at += 1
            if depth == 0 and (in_title or not in_head):
                count = _write(data, start, at, preformatted > 0, out, count)
            continue
        mark = data[at + 1] if at + 1 < size else np.uint8(0)
        ends = mark == _SLASH
        first = at + 2 if ends else at + 1
        if first >= size or not _is_letter(data[first]):
            if mark == _BANG or mark == _QUESTION or (ends and first < size):
                at = _declaration_end(data, at)
                count = _seam(out, count)
            else:
                at += 1
                if depth == 0 and (in_title or not in_head):
                    count = _write(data, start, at, preformatted > 0, out, count)
            continue
        key, at = _name(data, first)
        at, closed = _tag_end(data, at)
        if at < 0:
            break
        which = np.searchsorted(names, key)
        kind = kinds[which] if which < len(names) and names[which] == key else 0
        count = _seam(out, count) if kind & INLINE else _line(out, count)
        if ends:
            if kind & HEAD:
                in_head = False
            if kind & TITLE:
                in_title = False
            if kind & PRE and preformatted:
                preformatted -= 1
            if kind & SILENT and open_silent[which]:
                left = -1
                while left != which:
                    depth -= 1
                    left = stack[depth]
                    open_silent[left] -= 1
                    if kinds[left] & SVG:
                        in_svg -= 1
            continue
        if kind & HEAD:
            in_head = True
        elif not kind & (IN_HEAD | HTML):
            in_head = False  # its end tag may be left out
        in_title = kind & TITLE != 0
        if kind & PRE:
            preformatted += 1
        if closed:
            continue
        # In a drawing, what else would hold no tags does.
        if kind & (RAW | PLAIN) and not in_svg:
            end = -1
            if not unclosed[which]:
                end = _end_tag(data, at, key)
                unclosed[which] = end < 0
            if kind & RAW:
                at = end if end >= 0 else size
            elif end >= 0:
                if depth == 0 and (in_title or not in_head):
                    count = _write(data, at, end, preformatted > 0, out, count)
                at = end
        elif kind & SILENT:
            stack[depth] = which
            depth += 1
            open_silent[which] += 1
            if kind & SVG:
                in_svg += 1
    return count
