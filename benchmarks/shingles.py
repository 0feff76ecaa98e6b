"""Words and shingles by plain Python, for the exact answer: nothing here comes from Lookalike."""

import re
import unicodedata
from collections.abc import Hashable
from dataclasses import dataclass

_PLAIN = re.compile(r"[a-z0-9]+")
_BY_THEMSELVES = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f]"
)
"""Ideographs and kana."""


class _Words(dict[int, str]):
    """What each character becomes: itself in a word, a word by itself, or a blank."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)[0]
        if category == "L" and _BY_THEMSELVES.match(character):
            self[code] = f" {character} "
        else:
            self[code] = character if category in "LMN" else " "
        return self[code]


_WORDS = _Words()


def words_of(text: str) -> list[str]:
    """Give the words in lower case: runs of letters, marks and digits, an ideograph or a kana."""
    if text.isascii():
        return _PLAIN.findall(text.lower())
    return _composed(text).translate(_WORDS).split()


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


@dataclass(frozen=True)
class Shingles:
    """So many words, or characters, in a row."""

    unit: str
    size: int

    @classmethod
    def parse(cls, text: str) -> "Shingles":
        unit, _, size = text.partition(":")
        if unit not in ("words", "chars") or not size.isdigit() or int(size) < 1:
            raise ValueError(f"{text!r} is no shingle: use words:5 or chars:9")
        return cls(unit, int(size))

    def __str__(self) -> str:
        return f"{self.unit}:{self.size}"

    def __call__(self, text: str) -> set[Hashable]:
        """Give the set of a text's shingles; a text too short for one is one, unless empty."""
        if self.unit == "words":
            words = words_of(text)
            if len(words) >= self.size:
                return set(zip(*(words[start:] for start in range(self.size)), strict=False))
            if words:
                return {tuple(words)}
        plain = " ".join(_composed(text).split())
        if self.unit == "words" or len(plain) <= self.size:
            return {plain} if plain else set()
        return {plain[at : at + self.size] for at in range(len(plain) - self.size + 1)}


def jaccard(first: set[Hashable], second: set[Hashable]) -> float:
    """Give the share of all shingles that both have; nothing is similar to an empty text."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0
