"""Texts for the tests: any Unicode text, the places where Unicode is subtle, columns of them."""

import unicodedata
from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from lookalike.text import unicode
from lookalike.text.normalise import Canonical, Normalisation, normalise

TABLE = unicode.code_points()

SUBTLE = (
    "aAiIjJkszZ09 .,-_\t\n\x00\x1c\x7f"
    # Lower case that depends on its neighbours, grows, shrinks, composes or becomes two.
    "ΣσςΑαΟ\u0345İıßẞȺȾKÅΩǅϓЙЁЇ"
    # Marks of several classes, with and without a composition; a mark that joins backwards.
    "\u0300\u0301\u0302\u0307\u0308\u030c\u0323\u0327\u0328\u0338\u0344\u035c\u0360\u1dce\u20d2\ufe20"
    "éÉåÅǰốṩ"
    # Scripts whose marks carry the sound, a composition exclusion, two-part vowels.
    "\u05e9\u05c1\u05b8\u05bc\ufb2a\u0645\u064e\u0651\u0653\u0654\u0915\u093c\u0958\u094d\u09c7\u09be"
    "\u0e01\u0e38\u0e48\u0f71\u0f72\u0f73\u0dd9\u0dcf\u0ddd\u1025\u102e"
    # Hangul whole and in parts, kana and its voicing, ideographs and their doubles.
    "가각힣\u1100\u1161\u11a8\u11a7かがパ\u3099\u309aー\uff76\uff9e・。中文\uf900\ufa10\U0002f800\U00020000"
    # Blanks, near-blanks, signs, digits of many kinds, and what lies beyond 16 bits.
    "\x85\u00a0\u1680\u180e\u2000\u2003\u200b\u200d\u2028\u202f\u3000\ufeff"
    "≠=<≮«»„“…€™½Ⅷ٣५１²\U0001d400\U0001e900\U00010400\U0001d15e\U0001f469\ufe0f\U0001f3fd\U0010fffd"
)


def assigned(character: str) -> bool:
    """Say whether the table and the running Python both know a character."""
    known = TABLE[ord(character)] & unicode.ASSIGNED
    return bool(known) and unicodedata.category(character) not in ("Cn", "Cs")


ascii_characters = st.characters(max_codepoint=0x7F)
characters = st.one_of(
    ascii_characters,
    st.sampled_from([c for c in SUBTLE if assigned(c)]),
    st.characters(exclude_categories=["Cs", "Cn"]).filter(assigned),
)
any_text = st.one_of(st.text(characters, max_size=30), st.text(ascii_characters, max_size=60))
batches = st.lists(st.one_of(st.none(), any_text), max_size=8)

NAMES = ("keep_case", "strip_accents", "strip_punctuation", "strip_digits")
EVERY_OPTION = [
    Normalisation(raw=True),
    *(Normalisation(*chosen) for chosen in product((False, True), repeat=len(NAMES))),
]


def documents(texts: Sequence[str | None], options: Normalisation | None = None) -> Canonical:
    """Make Python strings canonical."""
    return normalise(pa.array(texts, pa.large_string()), options)


def all_texts(canonical: Canonical) -> list[str]:
    """Give the canonical text of each document."""
    return [canonical.text(row) for row in range(len(canonical))]


def from_bytes(rows: Sequence[bytes], kind: pa.DataType | None = None) -> pa.Array:
    """Put bytes, valid or not, into an Arrow array of strings without a check."""
    kind = kind or pa.large_string()
    width = np.int32 if kind == pa.string() else np.int64
    offsets = np.cumsum([0, *map(len, rows)], dtype=width)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(rows))]
    return pa.Array.from_buffers(kind, len(rows), buffers)
