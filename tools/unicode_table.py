"""Write src/lookalike/text/unicode.bin: what Lookalike knows of each code point.

    python tools/unicode_table.py

Run by hand, with the Python whose Unicode version the table shall have; the file is committed, so
that canonical texts and words, and with them every hash, are the same under every Python.
Standard library only. The format, little-endian, compressed by zlib: runs of
first code point, flags, lower case less the code point (signed) and combining class, 32 bits each.
"""

import struct
import unicodedata
import zlib
from pathlib import Path

ASSIGNED, MARK, DENSE, WORD, SINGLE, SPACE, PUNCTUATION, NUMBER, COMPLEX = (
    1 << i for i in range(9)
)

IDEOGRAPHS = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)]
KANA = [
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
]
HANGUL = [(0xAC00, 0xD7A3)]
SPACES = [
    *[(0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)],
    *[(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)],
]


def within(point: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= point <= last for first, last in ranges)


def may_follow_in_a_composition() -> set[int]:
    """The code points that can join the one before them under NFC."""
    found = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    for point in range(0x110000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(int(parts[1], 16))
    return found


def main() -> None:
    joins = may_follow_in_a_composition()

    def composed_already(point: int) -> bool:
        text = chr(point)
        return unicodedata.normalize("NFC", text) == text and point not in joins

    runs = []
    last = None
    for point in range(0x110000):
        text = chr(point)
        category = unicodedata.category(text)
        combining = unicodedata.combining(text)
        lower = text.lower() if category != "Cs" else text
        flags = 0
        # A sigma is lower-cased by what stands around it, and a dotted capital I to two characters.
        special = len(lower) != 1 or point == 0x3A3
        if special:
            lower = text
        if (
            special
            or not composed_already(point)
            or not composed_already(ord(lower))
            or unicodedata.combining(lower) != combining
        ):
            flags |= COMPLEX
        if category != "Cn":
            flags |= ASSIGNED
        if combining:
            flags |= MARK
        if category[0] in "LMN":
            flags |= WORD
        if (category == "Lo" and within(point, IDEOGRAPHS)) or (
            category[0] == "L" and within(point, KANA)
        ):
            flags |= SINGLE
        if flags & SINGLE or within(point, HANGUL):
            flags |= DENSE
        if within(point, SPACES):
            flags |= SPACE
        if category[0] in "PS":
            flags |= PUNCTUATION
        if category[0] == "N":
            flags |= NUMBER
        if category != "Cs":
            before, after = len(text.encode()), len(lower.encode())
            if after * 2 > before * 3:
                raise SystemExit(f"U+{point:04X} grows from {before} to {after} bytes")
        record = (flags, ord(lower) - point, combining)
        if record != last:
            runs.append((point, *record))
            last = record
    packed = b"".join(struct.pack("<IIiI", *run) for run in runs)
    target = Path(__file__).parent.parent / "src" / "lookalike" / "text" / "unicode.bin"
    target.write_bytes(zlib.compress(packed, 9))
    print(f"Unicode {unicodedata.unidata_version}: {len(runs)} runs, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
