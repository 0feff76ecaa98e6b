"""Small corpora of edits and copies, and every way to compare them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = [f"w{number}" for number in range(40)]
WAYS: dict[str, dict[str, Any]] = {
    "planned": {"shingle": "words:2", "threshold": 0.5},
    "bands": {"shingle": "words:2", "threshold": 0.5, "bands": 16, "rows": 2},
    "few bands": {"shingle": "words:2", "threshold": 0.5, "bands": 3, "rows": 2},
    "cascade": {"shingle": "words:1", "threshold": 0.4, "cascade": "and:1 or:2 and:2 or:8"},
    "exact": {"shingle": "words:2", "threshold": 0.4, "recall": 1},
    "estimate": {
        "shingle": "words:2",
        "threshold": 0.5,
        "estimate": True,
        "bands": 16,
        "rows": 2,
    },
    "simhash": {"shingle": "words:2", "simhash": 12},
    "cosine": {"metric": "cosine", "shingle": "words:2", "threshold": 0.6},
    "cosine by bands": {
        "metric": "cosine",
        "shingle": "words:2",
        "threshold": 0.6,
        "bands": 16,
        "rows": 6,
    },
    "tf-idf": {"metric": "cosine", "weights": "tf-idf", "shingle": "words:1", "threshold": 0.6},
    "multiset": {
        "shingle": "words:1",
        "multiset": True,
        "threshold": 0.5,
        "bands": 16,
        "rows": 2,
    },
    "not all shingles": {
        "shingle": "words:1",
        "threshold": 0.5,
        "max_df": 0.3,
        "bands": 8,
        "rows": 1,
    },
}


def texts_of(seed: int, documents: int) -> list[str]:
    """Edits of a few texts, copies of them, and an empty one."""
    choice = random.Random(seed)
    texts = [choice.choices(WORDS, k=choice.randint(4, 12)) for _ in range(3)]
    while len(texts) < documents:
        words = list(choice.choice(texts))
        for _ in range(choice.choice([0, 0, 1, 2, 3])):
            words[choice.randrange(len(words))] = choice.choice(WORDS)
        texts.append(words)
    if documents > 4:
        texts[choice.randrange(documents)] = []
    choice.shuffle(texts)
    return [" ".join(words) for words in texts[:documents]]


def components(pairs: Iterable[tuple[Any, Any]]) -> set[frozenset[Any]]:
    """Give the connected components of pairs, the slow way."""
    clusters: list[set[Any]] = []
    for pair in pairs:
        touching = [one for one in clusters if one & set(pair)]
        clusters = [one for one in clusters if not one & set(pair)]
        clusters.append(set(pair).union(*touching))
    return {frozenset(one) for one in clusters}
