"""Texts of a page: their words, and the passages that two of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lookalike.reports.offsets import code_units
from lookalike.text.passages import MAX_PLACES, MIN_WORDS, canonical_words, shared_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.text.normalise import Normalisation

__all__ = ["PassageSpan", "ShownText", "shared_spans"]

LOOK = 64
"""Words that are compared at first; ever more of them while they are the same."""
PassageSpan = tuple[int, int, int, int, int]
"""From and to in one text, from and to in the other, in UTF-16 code units; and the words."""


@dataclass
class ShownText:
    """A text as users know it, and its words in canonical form."""

    text: str
    options: Normalisation = field(repr=False)
    runs: NDArray[np.int64] | None = field(default=None, repr=False)
    """The number of the run of five words that begins at each word: the same in all texts."""

    @cached_property
    def words(self) -> tuple[list[str], NDArray[np.int64]]:
        """The words in canonical form, and where each begins and ends, in characters."""
        return canonical_words(self.text, self.options)

    @cached_property
    def units(self) -> NDArray[np.int64] | None:
        """How many UTF-16 code units lie before each character, where not one for each."""
        return code_units(self.text)

    @cached_property
    def by_run(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words in the order of the numbers of their runs, and those numbers."""
        runs = np.empty(0, np.int64) if self.runs is None else self.runs
        order = np.argsort(runs, kind="stable")
        return order, runs[order]

    @property
    def length(self) -> int:
        """Its UTF-16 code units."""
        return len(self.text) if self.units is None else int(self.units[-1])

    def at(self, character: int) -> int:
        """Give the code units before a character."""
        return int(character) if self.units is None else int(self.units[character])

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Give where the words from one to another stand, in code units."""
        spans = self.words[1]
        return self.at(spans[first, 0]), self.at(spans[last, 1])


def shared_spans(a: ShownText, b: ShownText) -> list[PassageSpan]:
    """Give the passages of some words that stand in both, in the order of `b`."""
    if a.runs is not None and b.runs is not None:
        return [
            (*a.span(i, i + words - 1), *b.span(j, j + words - 1), words)
            for i, j, words in _matches(a, a.runs, b.runs)
        ]
    return [
        (a.at(one.a_start), a.at(one.a_end), b.at(one.b_start), b.at(one.b_end), one.words)
        for one in shared_words(a.words, b.words)
    ]


def _matches(
    a: ShownText, runs_a: NDArray[np.int64], runs_b: NDArray[np.int64]
) -> Iterator[tuple[int, int, int]]:
    """Find what `shared_words` finds, by the numbers of runs: first words, and how many.

    Two texts of a megabyte take some milliseconds, not a second.
    """
    order, numbers = a.by_run
    first, last = (np.searchsorted(numbers, runs_b, side) for side in ("left", "right"))
    shared = np.flatnonzero(last > first)
    at = 0
    while at < len(shared):
        j = int(shared[at])
        best, start = 0, 0
        for i in order[first[j] : min(last[j], first[j] + MAX_PLACES)].tolist():
            equal = _equal(runs_a, i, runs_b, j)
            if equal > best:
                best, start = equal, i
        words = best + MIN_WORDS - 1
        yield start, j, words
        at = int(np.searchsorted(shared, j + words))


def _equal(a: NDArray[np.int64], i: int, b: NDArray[np.int64], j: int) -> int:
    """Count how many numbers are the same from two places on."""
    most = min(len(a) - i, len(b) - j)
    done, size = 0, LOOK
    while done < most:
        size = min(size, most - done)
        differ = np.flatnonzero(a[i + done : i + done + size] != b[j + done : j + done + size])
        if len(differ):
            return done + int(differ[0])
        done += size
        size *= 4
    return done
