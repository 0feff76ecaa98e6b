"""What an index should answer, by brute force over sets of strings; no code of the package."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import cosine_oracle

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Set

WORDS = """
    harbour almanac bread garden clock river winter market lantern ferry stone orchard letter
    window morning bridge copper violin thunder meadow pepper captain island candle wheel
""".split()  # noqa: SIM905 - a list of words reads best as words

Found = list[tuple[Any, float]]


def elements(shingles: Iterable[Hashable], *, multiset: bool = False) -> set[Hashable]:
    """Give a set of shingles; of a multiset, each with the number of its occurrence."""
    counted = Counter(shingles)
    if not multiset:
        return set(counted)
    return {(one, place) for one, many in counted.items() for place in range(many)}


def text_set(text: str, how: str = "chars:4", *, multiset: bool = False) -> set[Hashable]:
    return elements(cosine_oracle.shingles(text, how), multiset=multiset)


def jaccard(a: Set[Any], b: Set[Any]) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a and b else Fraction(0)


def similar(
    sets: Mapping[Any, Set[Any]], asked: Set[Any], threshold: float
) -> list[tuple[Any, float]]:
    """Give the ids of sets that are similar to one, and how similar, as an index sorts them."""
    found = [(id, float(jaccard(one, asked))) for id, one in sets.items()]
    return sorted((one for one in found if one[1] >= threshold), key=lambda one: (-one[1], one[0]))


def edited_texts(seed: int, originals: int, *, edits: int = 3) -> list[str]:
    """Make texts of random words, and others with more and more of their words changed."""
    choice = random.Random(seed)
    texts = []
    for _ in range(originals):
        words = choice.choices(WORDS, k=choice.randint(3, 60))
        texts.append(" ".join(words))
        for many in range(edits):
            words = words.copy()
            for _ in range(many):
                words[choice.randrange(len(words))] = choice.choice(WORDS)
            texts.append("  ".join(words).title())
    choice.shuffle(texts)
    return texts


def answers(index: Any, asked: Any, **options: Any) -> Found:
    return [(one.id, one.similarity) for one in index.query(asked, **options)]
