"""Rows of stores for tests, and what readers give of them in an order that can be compared."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.index.store import Block, Entries, Entry
from store_twin import WIDTH, laid_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

IDS = [
    "a",
    "b",
    "A",
    "ä",
    "\U0001f600",
    "\uffff",
    "it's",
    '"',
    "{a,b}",
    "NULL",
    "\\",
    " ",
    "é" * 99,
]
KEYS = [0, 1, -1, 2**47 - 1, -(2**47), 256, 1000]


def numbers(*given: int) -> NDArray[np.int64]:
    return np.array(given, np.int64)


def entry(number: int, *, text: bool = True) -> Entry:
    """Make the entry of a number."""
    content = hashlib.blake2b(str(number).encode(), digest_size=16).digest()
    body = content * (number % 400) if text else None
    return Entry(number, content, content[:WIDTH], 17 * number, number % 7 == 0, body)


def entries(*given: Entry, keys: tuple[int, ...] = (5, 6)) -> Entries:
    """Lay out entries that all are in some buckets."""
    return laid_out(
        given,
        numbers(*keys * len(given)),
        np.repeat(numbers(*(one.number for one in given)), len(keys)),
    )


def listed(found: Any) -> list[Any]:
    """Give what a method found in an order that can be compared."""
    if isinstance(found, tuple):
        first, second = found
        assert first.dtype == np.int64
        return sorted(zip(first.tolist(), second.tolist(), strict=True))
    if isinstance(found, dict):
        return sorted(found.items())
    return sorted(
        (one.key, one.entries.tolist(), one.sketches.tolist()) if isinstance(one, Block) else one
        for one in found
    )
