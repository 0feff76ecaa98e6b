"""Two documents to the passages they share: the same words in a row, wherever they stand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.string_columns import strings
from lookalike.base.wording import setting
from lookalike.text import unicode
from lookalike.text.normalise import Normalisation, normalise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = tuple[list[str], NDArray[np.int64]]
    """The words of a document, and where each begins and ends."""

__all__ = [
    "MAX_PLACES",
    "MIN_WORDS",
    "Passage",
    "canonical_words",
    "shared_passages",
    "shared_runs",
    "shared_words",
    "word_spans",
]

MIN_WORDS = 5
"""Words that a shared passage has at the least."""
VOICING_MARKS = (0x3099, 0x309A)
MAX_PLACES = 64
"""Places of one run of words that are tried; text that repeats itself has no more than these."""


@dataclass(frozen=True)
class Passage:
    """The same words in both texts: from and to character offsets, in each as it was given.

    Of lists of tokens these are places in the list.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    words: int


def word_spans(text: str) -> NDArray[np.int64]:
    """Give the first character of each word and the one after its last, two columns."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    records = unicode.code_points()[points]
    inside = (records & unicode.WORD) != 0
    single = (records & unicode.SINGLE) != 0
    # A voicing mark belongs to the kana before it, with which it composes.
    voicing = np.isin(points, VOICING_MARKS)
    voiced = voicing & np.concatenate([[False], single[:-1]])
    single |= voiced
    alone = np.concatenate([[False], single[:-1]])
    before = np.concatenate([[False], inside[:-1]])
    begins = inside & (~before | single | alone) & ~voiced
    starts = np.flatnonzero(begins)
    following = np.concatenate([~inside[1:] | begins[1:], [True]])
    ends = np.flatnonzero(inside & following) + 1
    return np.stack([starts, ends], axis=1).astype(np.int64)


def shared_passages(
    a: str, b: str, *, shortest: int = MIN_WORDS, options: Normalisation | None = None
) -> list[Passage]:
    """Give the passages of `shortest` words or more that stand in both, in the order of `b`.

    Words are compared in canonical form; what stands between them is not. Passages do not overlap
    in `b`; of several places in `a` (of the first 64), the longest match is given, and of those the
    first.
    """
    return shared_words(canonical_words(a, options), canonical_words(b, options), shortest)


def shared_runs(a: list[str], b: list[str], *, shortest: int = MIN_WORDS) -> list[Passage]:
    """Give the same of two lists of tokens, as they are: a passage is a slice of each list."""
    return shared_words((a, _places(a)), (b, _places(b)), shortest)


def _places(tokens: list[str]) -> NDArray[np.int64]:
    starts = np.arange(len(tokens), dtype=np.int64)
    return np.stack([starts, starts + 1], axis=1)


def shared_words(first: Words, second: Words, shortest: int = MIN_WORDS) -> list[Passage]:
    """Give the same of two documents as their words, where those are known already."""
    if isinstance(shortest, bool) or not isinstance(shortest, Integral) or shortest < 1:
        raise SettingsError(
            f"{setting('shortest', shortest)}: use a whole number of words from 1, as 5"
        )
    shortest = int(shortest)
    (words_a, spans_a), (words_b, spans_b) = first, second
    places = defaultdict(list)
    for i in range(len(words_a) - shortest + 1):
        places[tuple(words_a[i : i + shortest])].append(i)
    found = []
    j = 0
    while j <= len(words_b) - shortest:
        best, start = 0, 0
        for i in places.get(tuple(words_b[j : j + shortest]), [])[:MAX_PLACES]:
            length = shortest
            while (
                i + length < len(words_a)
                and j + length < len(words_b)
                and words_a[i + length] == words_b[j + length]
            ):
                length += 1
            if length > best:
                best, start = length, i
        if not best:
            j += 1
            continue
        found.append(
            Passage(
                int(spans_a[start, 0]),
                int(spans_a[start + best - 1, 1]),
                int(spans_b[j, 0]),
                int(spans_b[j + best - 1, 1]),
                best,
            )
        )
        j += best
    return found


def canonical_words(text: str, options: Normalisation | None) -> Words:
    """Give the words in canonical form, without those of which nothing is left, and their spans."""
    spans = word_spans(text)
    words = strings([text[start:end] for start, end in spans.tolist()])
    canonical = normalise(words, options)
    kept = np.flatnonzero(np.diff(canonical.offsets))
    whole = canonical.data.tobytes()
    ends = zip(canonical.offsets[kept].tolist(), canonical.offsets[kept + 1].tolist(), strict=True)
    return [whole[start:end].decode() for start, end in ends], spans[kept]
