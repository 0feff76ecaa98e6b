"""The cosine by brute force: every pair compared, from what docs/hashing.md says and no more.

Shingles are the strings themselves, not their hashes, counted by a Counter; a corpus is a matrix
with a column for each of them. Nothing here is shared with the package.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import twins

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

Pairs = dict[tuple[Any, Any], float]

WEIGHTS = ("counts", "binary", "log", "tf-idf")
ROUNDING = 1e-12
"""How far below the threshold a score at it may come to lie."""
BLANKS = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in twins.WHITE_SPACE) + "]+"
)


def canonical(text: str) -> str:
    """Compose, lower, compose again, one blank for every run of white space, none at the ends."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    return BLANKS.sub(" ", lowered).strip(" ")


class _Cut(dict[int, str]):
    """How a character is cut: kept in a word, a word by itself, or between words."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        inside = unicodedata.category(character)[0] in "LMN"
        alone = inside and twins.is_word_by_itself(character)
        self[code] = f" {character} " if alone else character if inside else " "
        return self[code]


CUT = _Cut()


def shingles(text: str, how: str) -> list[Hashable]:
    """Give the shingles of a text, in order, as strings or tuples of words."""
    unit, size = how.split(":")
    k = int(size)
    text = canonical(text)
    if unit == "chars":
        if not text:
            return []
        return [text[i : i + k] for i in range(max(1, len(text) - k + 1))]
    words = text.translate(CUT).split()
    if text and not words:
        return [text]
    return [tuple(words[i : i + k]) for i in range(max(1, len(words) - k + 1))] if words else []


def weigh(
    documents: Sequence[Sequence[Hashable]], kind: str, said: Sequence[Hashable] | None = None
) -> list[dict[Hashable, float]]:
    """Give the weight of every shingle of every document, given as its shingles in order.

    Documents are distinct by what they say, where that is given, else by their shingles.
    """
    counted = [Counter(document) for document in documents]
    by_content = dict(zip(said or map(tuple, documents), documents, strict=True))
    distinct = [document for document in by_content.values() if document]
    spread = Counter(one for document in distinct for one in set(document))

    def weight(shingle: Hashable, count: int) -> float:
        if kind == "counts":
            return float(count)
        if kind == "binary":
            return 1.0
        if kind == "log":
            return 1 + math.log(count)
        return count * (math.log((1 + len(distinct)) / (1 + spread[shingle])) + 1)

    return [
        {one: weight(one, count) for one, count in weighted_set.items()} for weighted_set in counted
    ]


def cosine(a: dict[Hashable, float], b: dict[Hashable, float]) -> float:
    """Give the cosine of two weighted sets; 0 where one is empty."""
    product = math.fsum(a[one] * b[one] for one in a.keys() & b.keys())
    lengths = [
        math.fsum(weight * weight for weight in weighted_set.values()) for weighted_set in (a, b)
    ]
    return product / math.sqrt(lengths[0] * lengths[1]) if all(lengths) else 0.0


def matrix(weighted_sets: Iterable[dict[Hashable, float]]) -> sparse.csr_array:
    """Lay out weighted sets as rows of length 1, with a column for each shingle."""
    columns: dict[Hashable, int] = {}
    indices, values, ends = [], [], [0]
    for weighted_set in weighted_sets:
        indices += [columns.setdefault(one, len(columns)) for one in weighted_set]
        length = math.sqrt(math.fsum(weight * weight for weight in weighted_set.values()))
        values += [weight / length for weight in weighted_set.values()]
        ends.append(len(indices))
    return sparse.csr_array((values, indices, ends), shape=(len(ends) - 1, max(1, len(columns))))


def similar(
    rows: sparse.csr_array | NDArray[np.float64], names: Sequence[Any], least: float
) -> Pairs:
    """Multiply every two rows of length 1, and give those at or above a cosine, by their names."""
    found: Pairs = {}
    for start in range(0, rows.shape[0], 256):
        product: Any = rows[start : start + 256] @ rows.T
        dense = product.toarray() if sparse.issparse(product) else product
        for i, j in np.argwhere(np.triu(dense >= least, start + 1)).tolist():
            a, b = sorted((names[start + i], names[j]))
            found[a, b] = float(dense[i, j])
    return found


def text_pairs(texts: dict[Any, str], how: str, kind: str, least: float) -> Pairs:
    """Give the cosine of every pair of texts at or above a least one."""
    rows = matrix(weigh([shingles(text, how) for text in texts.values()], kind))
    return similar(rows, list(texts), least)


def unit_rows(array: NDArray[Any]) -> NDArray[np.float64]:
    """Give vectors at length 1, after what rounding to 32 bits leaves of their numbers."""
    numbers = array.astype(np.float64)
    _, exponents = np.frexp(np.abs(numbers).max(axis=1))
    kept = np.ldexp(numbers, 1 - exponents[:, None]).astype(np.float32).astype(np.float64)
    found: NDArray[np.float64] = kept / np.linalg.norm(kept, axis=1, keepdims=True)
    return found


def vector_pairs(array: NDArray[Any], least: float) -> Pairs:
    """Give the cosine of every pair of rows at or above a least one."""
    return similar(unit_rows(array), range(len(array)), least)


def components(pairs: Collection[tuple[Any, Any]]) -> list[frozenset[Any]]:
    """Give what hangs together by pairs."""
    names = sorted({name for pair in pairs for name in pair})
    place = {name: at for at, name in enumerate(names)}
    parts = twins.components(len(names), [(place[a], place[b]) for a, b in pairs])
    return [frozenset(names[at] for at in part) for part in parts]


def greedy(
    order: Sequence[Any], same: dict[Any, Hashable], pairs: Pairs
) -> tuple[set[Any], dict[Any, tuple[Any, float]]]:
    """Keep documents in an order of preference, each unless a kept one before it is in a pair.

    `same` tells what each document says, None for an empty one, which always stays. Documents that
    say the same stand where the most preferred of them stands. The result is the kept ones, and
    for each other the kept one it names, with their cosine.
    """
    leaders: dict[Hashable, Any] = {}
    for name in order:
        leaders.setdefault(same[name], name)
    distinct = [name for name in order if same[name] is None or leaders[same[name]] == name]
    neighbours: dict[Any, dict[Any, float]] = {}
    for (a, b), cosine_of_both in pairs.items():
        neighbours.setdefault(a, {})[b] = cosine_of_both
        neighbours.setdefault(b, {})[a] = cosine_of_both
    kept, removed = twins.star(distinct, neighbours)
    for name in order:
        leader = leaders[same[name]]
        if same[name] is not None and name != leader:
            removed[name] = removed.get(leader, (leader, 1.0))
    return set(kept), removed
