"""What Lookalike knows of each code point, the same under every version of Python.

The tables come from `unicode.bin`, which `tools/unicode_table.py` makes. A record of `CODE_POINTS`
holds a code point's lower case in its low 21 bits and what it is in the flags above.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ASSIGNED",
    "COMPLEX",
    "DENSE",
    "LOWER",
    "MARK",
    "NUMBER",
    "PUNCTUATION",
    "SINGLE",
    "SPACE",
    "WORD",
    "code_points",
    "combining_classes",
]

Table: TypeAlias = "NDArray[np.uint32]"

LOWER = (1 << 21) - 1
"""The bits of a record that hold the code point's lower case."""
ASSIGNED = 1 << 21
"""Part of the Unicode version of the table."""
MARK = 1 << 22
"""Has a combining class other than 0."""
DENSE = 1 << 23
"""Says about as much as a syllable or a word: an ideograph, a kana, a Hangul syllable."""
WORD = 1 << 24
"""A letter, a mark or a number: part of a word."""
SINGLE = 1 << 25
"""An ideograph or a kana: a word by itself."""
SPACE = 1 << 26
"""White space."""
PUNCTUATION = 1 << 27
"""Punctuation or a symbol."""
NUMBER = 1 << 28
"""A digit or another number."""
COMPLEX = 1 << 29
"""Lower-cased or composed by what stands around it, so that no table can tell."""


@cache
def _runs() -> NDArray[np.uint32]:
    packed = (files("lookalike.text") / "unicode.bin").read_bytes()
    return np.frombuffer(zlib.decompress(packed), dtype="<u4").reshape(-1, 4)


def _spread(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    starts = _runs()[:, 0].astype(np.int64)
    return np.repeat(values, np.diff(starts, append=0x110000))


@cache
def code_points() -> Table:
    """Give the record of every code point."""
    runs = _runs()
    lower = np.add(_spread(runs[:, 2]), np.arange(0x110000, dtype=np.uint32), dtype=np.uint32)
    table: Table = (_spread(runs[:, 1]) << np.uint32(21)) | lower
    table.setflags(write=False)
    return table


@cache
def combining_classes() -> NDArray[np.uint8]:
    """Give the canonical combining class of every code point."""
    classes = _spread(_runs()[:, 3]).astype(np.uint8)
    classes.setflags(write=False)
    return classes
