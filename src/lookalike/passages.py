"""Two documents to the passages they share: the same words in a row, wherever they stand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike import unicode
from lookalike.normalise import Normalisation, canonical_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Passage", "shared_passages", "word_spans"]

SHORTEST = 5
"""Words that a shared passage has at the least."""
MOST_PLACES = 64
"""Places of one run of words that are tried; text that repeats itself has no more than these."""


@dataclass(frozen=True)
class Passage:
    """The same words in both texts: from and to character offsets, in each as it was given."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    words: int


def word_spans(text: str) -> NDArray[np.int64]:
    """Give the first character of each word and the one after its last, two columns."""
    records = unicode.code_points()[np.frombuffer(text.encode("utf-32-le"), np.uint32)]
    inside = (records & unicode.WORD) != 0
    single = (records & unicode.SINGLE) != 0
    before = np.concatenate([[False], inside[:-1]])
    after_single = np.concatenate([[False], single[:-1]])
    starts = np.flatnonzero(inside & (~before | single | after_single))
    following = np.concatenate([inside[1:], [False]])
    before_single = np.concatenate([single[1:], [False]])
    ends = np.flatnonzero(inside & (~following | single | before_single)) + 1
    return np.stack([starts, ends], axis=1).astype(np.int64)


def shared_passages(
    a: str, b: str, *, shortest: int = SHORTEST, options: Normalisation | None = None
) -> list[Passage]:
    """Give the passages of `shortest` words or more that stand in both, in the order of `b`.

    Words are compared in canonical form; what stands between them is not. Passages do not overlap
    in `b`; of several places in `a`, the longest match is given, and of those the first.
    """
    spans_a, spans_b = word_spans(a), word_spans(b)
    words_a = _canonical_words(a, spans_a, options)
    words_b = _canonical_words(b, spans_b, options)
    places = defaultdict(list)
    for i in range(len(words_a) - shortest + 1):
        places[tuple(words_a[i : i + shortest])].append(i)
    found = []
    j = 0
    while j <= len(words_b) - shortest:
        best, start = 0, 0
        for i in places.get(tuple(words_b[j : j + shortest]), [])[:MOST_PLACES]:
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


def _canonical_words(
    text: str, spans: NDArray[np.int64], options: Normalisation | None
) -> list[str]:
    """Make all words canonical at once, with blanks between, which no word holds."""
    words = [text[start:end] for start, end in spans.tolist()]
    if not words or (options and options.raw):
        return words
    together = canonical_text(" ".join(words), options).split(" ")
    if len(together) == len(words):
        return together
    # An option that strips digits can leave nothing of a word; each is then done by itself.
    return [canonical_text(word, options) for word in words]
