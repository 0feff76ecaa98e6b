"""Texts of a page: their words, and the passages that two of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lookalike.reports.offsets import code_units
from lookalike.text.passages import MIN_WORDS, canonical_words, shared_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.text.normalise import Normalisation

__all__ = ["PassageSpan", "ShownText", "shared_spans"]

PassageSpan = tuple[int, int, int, int, int]
"""From and to in one text, from and to in the other, in UTF-16 code units; and the words."""


@dataclass
class ShownText:
    """A text as users know it, and its words in canonical form."""

    text: str
    options: Normalisation = field(repr=False)

    @cached_property
    def words(self) -> tuple[list[str], NDArray[np.int64]]:
        """The words in canonical form, and where each begins and ends, in characters."""
        return canonical_words(self.text, self.options)

    @cached_property
    def units(self) -> NDArray[np.int64] | None:
        """How many UTF-16 code units lie before each character, where not one for each."""
        return code_units(self.text)

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
    if a.words[0] == b.words[0] and len(a.words[0]) >= MIN_WORDS:
        last = len(a.words[0]) - 1
        return [(*a.span(0, last), *b.span(0, last), last + 1)]
    return [
        (a.at(one.a_start), a.at(one.a_end), b.at(one.b_start), b.at(one.b_end), one.words)
        for one in shared_words(a.words, b.words)
    ]
