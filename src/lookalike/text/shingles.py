"""Canonical text to shingles: k characters or k words in a row, hashed to 64 bits.

Where documents are lists of tokens, a token is a shingle (see `tokens`). A document is the set of
its shingles, or the multiset, in which the second occurrence of a shingle is an element of its own;
shingles that are ignored are as if they were not there. `docs/hashing.md` defines the hashes.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.threads import in_order, pieces
from lookalike.base.wording import quoted, setting
from lookalike.kernels import sets, shingles
from lookalike.text import unicode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical

__all__ = [
    "ALPHABETIC",
    "HEAD_BYTES",
    "Sets",
    "Shingling",
    "element_sets",
    "element_sets_in",
    "ignoring",
    "shingle_hashes",
    "shingle_hashes_in",
    "usual_size",
]

PRIME = (1 << 61) - 1
# mix(0x9E3779B97F4A7C15) modulo the prime; the kernel's sums rely on its being below 2^58.
BASE = 0x0220A8397B1DCDB6

_UNITS = {"chars": shingles.CHARS, "words": shingles.WORDS, "tokens": shingles.TOKENS}

PIECE_BYTES = 1 << 20
"""Bytes of text that one thread takes at a time."""
HEAD_BYTES = 1 << 16
"""Bytes of a document that tell its script."""
NONE_IGNORED = np.empty(0, np.uint64)
ALPHABETIC, IDEOGRAPHIC = 5, 2
"""The least characters of a shingle, where a character is a letter, or a syllable or word."""


@dataclass(frozen=True)
class Shingling:
    """What a shingle is: so many characters, or so many words, in a row, or one token."""

    unit: Literal["chars", "words", "tokens"]
    size: int
    multiset: bool = False
    ignored: NDArray[np.uint64] | None = field(default=None, compare=False, repr=False)
    """The shingles that do not count, as `ignoring` lays them out."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.unit not in ("chars", "words", "tokens"):
            raise SettingsError(
                f"shingle unit {quoted(self.unit)} is unknown: use chars or words, or tokens"
            )
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise SettingsError(
                f"shingle size {quoted(self.size)}: use a whole number from 1, as chars:5"
            )
        if self.unit == "tokens" and self.size != 1:
            raise SettingsError(f"shingles of {self.size} tokens: a token is a shingle by itself")

    @classmethod
    def parse(cls, spec: str, *, multiset: bool = False) -> Shingling:
        """Read `chars:5`, `words:3` or `tokens`."""
        if str(spec).strip() == "tokens":
            return cls("tokens", 1, multiset)
        found = re.fullmatch(r"(chars|words):([0-9]{1,6})", str(spec).strip())
        if not found or int(found[2]) < 1:
            raise SettingsError(
                f"{setting('shingle', spec)} is not understood: use chars:K or words:K, as "
                "chars:5, or tokens"
            )
        unit: Literal["chars", "words"] = "chars" if found[1] == "chars" else "words"
        return cls(unit, int(found[2]), multiset)

    def __str__(self) -> str:
        """Write it as `parse` reads it."""
        return "tokens" if self.unit == "tokens" else f"{self.unit}:{self.size}"

    def arguments(
        self,
    ) -> tuple[int, int, np.uint64, np.uint64, NDArray[np.uint32], NDArray[np.uint64]]:
        """Give the kernels what they need to know of the shingles; factors are given eightfold."""
        ignored = NONE_IGNORED if self.ignored is None else self.ignored
        return _UNITS[self.unit], self.size, *_factors(self.size), unicode.code_points(), ignored

    @cached_property
    def ignored_hashes(self) -> NDArray[np.uint64]:
        """The shingles that do not count, sorted."""
        if self.ignored is None:
            return np.empty(0, np.uint64)
        slots, zero = self.ignored[:-1], self.ignored[-1:]
        # A free slot is 0; whether the hash 0 is ignored itself, the last word tells.
        return np.sort(np.concatenate([slots[slots != 0], np.zeros(int(zero.any()), np.uint64)]))

    @cached_property
    def ignored_digest(self) -> str | None:
        """The name of what does not count, in 16 hexadecimal digits; None where all counts."""
        if self.ignored is None:
            return None
        return hashlib.sha256(self.ignored_hashes.astype("<u8").tobytes()).hexdigest()[:16]


@lru_cache(maxsize=64)
def _factors(size: int) -> tuple[np.uint64, np.uint64]:
    """Give what a rolling hash is multiplied by, and what takes its oldest character out."""
    drop = (PRIME - pow(BASE, size, PRIME)) % PRIME
    return np.uint64(8 * BASE), np.uint64(8 * drop)


def ignoring(hashes: NDArray[np.uint64]) -> NDArray[np.uint64] | None:
    """Lay out the hashes of shingles for `Shingling.ignored`: a table to look them up in."""
    if not len(hashes):
        return None
    # At most half full; one word more, for the hash 0.
    table = np.zeros((2 << (len(hashes) - 1).bit_length()) + 1, np.uint64)
    shingles.list_values(np.ascontiguousarray(hashes, np.uint64), table)
    return table


@dataclass(frozen=True)
class Sets:
    """Sets of 64-bit elements, each sorted, one after the other."""

    elements: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the sets."""
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint64]:
        """Give one set."""
        return self.elements[self.offsets[row] : self.offsets[row + 1]]

    def sizes(self) -> NDArray[np.int64]:
        """Give the number of elements of each set."""
        return np.diff(self.offsets)

    @classmethod
    def joined(cls, parts: list[Sets]) -> Sets:
        """Put several one after the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = [part.sizes() for part in parts]
        offsets = np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()
        return cls(np.concatenate([np.empty(0, np.uint64), *(p.elements for p in parts)]), offsets)


def shingle_hashes(documents: Canonical, shingling: Shingling) -> Sets:
    """Give the hashes of each document's shingles, in the order of the text, repeats included."""
    buffer = np.empty(int(documents.offsets[-1] - documents.offsets[0]) + 1, np.uint64)
    rows = np.arange(len(documents), dtype=np.int64)
    return shingle_hashes_in(buffer, documents, shingling, rows)


def shingle_hashes_in(
    buffer: NDArray[np.uint64],
    documents: Canonical,
    shingling: Shingling,
    rows: NDArray[np.int64],
) -> Sets:
    """Give the hashes of the documents in `rows`, in a buffer of at least their bytes plus one."""
    lengths = documents.lengths(rows)
    offsets = np.zeros(len(rows) + 1, np.int64)
    shingles.list_shingles(
        documents.data,
        documents.offsets,
        rows,
        *shingling.arguments(),
        int(lengths.max(initial=0)) + 1,
        buffer,
        offsets,
    )
    return Sets(buffer[: offsets[-1]], offsets)


def element_sets(
    documents: Canonical,
    shingling: Shingling,
    *,
    rows: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> Sets:
    """Give the sorted, distinct elements of the documents in `rows`, by default of all."""
    if rows is None:
        rows = np.arange(len(documents), dtype=np.int64)
    lengths = documents.lengths(rows)

    def build(piece: slice) -> Sets:
        buffer = np.empty(int(lengths[piece].sum()) + 1, np.uint64)
        return element_sets_in(buffer, documents, shingling, rows[piece])

    return Sets.joined(list(in_order(build, pieces(lengths, PIECE_BYTES), threads)))


def element_sets_in(
    buffer: NDArray[np.uint64],
    documents: Canonical,
    shingling: Shingling,
    rows: NDArray[np.int64],
) -> Sets:
    """Give the elements of the documents in `rows`, in a buffer of at least their bytes plus one.

    The first touch of fresh memory can cost more than what is then written to it; who builds sets
    again and again, and needs none for long, gives the same buffer each time.
    """
    lengths = documents.lengths(rows)
    offsets = np.zeros(len(rows) + 1, np.int64)
    sets.element_sets(
        documents.data,
        documents.offsets,
        rows,
        *shingling.arguments(),
        shingling.multiset,
        int(lengths.max(initial=0)) + 1,
        buffer,
        offsets,
    )
    return Sets(buffer[: offsets[-1]], offsets)


def usual_size(documents: Canonical, chosen: NDArray[np.int64]) -> int:
    """Give the least characters of a shingle for the script that most of the documents are in."""
    table = unicode.code_points()
    dense = letters = 0
    for row in chosen:
        start, end = documents.offsets[row], documents.offsets[row + 1]
        head = bytes(documents.data[start : min(end, start + HEAD_BYTES)]).decode(errors="ignore")
        records = table[np.frombuffer(head.encode("utf-32-le"), np.uint32)]
        dense += int(np.count_nonzero(records & unicode.DENSE))
        letters += int(np.count_nonzero(records & unicode.WORD))
    return ALPHABETIC if 2 * dense <= letters else IDEOGRAPHIC
