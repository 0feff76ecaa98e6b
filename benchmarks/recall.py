"""Whether pairs at the threshold are found as often as is stated: python -m benchmarks.recall.

Documents of one element, two, three and so on are made in pairs of one similarity, thousands of
different ones, and searched for with that threshold, by `lookalike.find` and several seeds. What is
found is compared with what the plan states, and with the recall that was asked for.

Pairs of one seed are found or missed together, as they share its hash functions. So a seed is one
measurement, and the error of their mean is that of the seeds, or that of independent pairs where
that is larger.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lookalike

RECALLS = (0.5, 0.9, 0.99, 0.9999)
SEEDS = 8
SMALL, LARGE = 4000, 16_000
"""Pairs of a row of the grid, all seeds together; at a recall of 0.9999 eight times as many."""
MANY = 1_000_000
"""Documents for which bands are planned that are given: those of a few thousand are short."""

Random = np.random.Generator
Words = NDArray[np.uint64]


class Size(NamedTuple):
    """How many elements two documents have together, and how many they share."""

    union: int
    shared: int

    @property
    def similarity(self) -> float:
        return self.shared / self.union


@dataclass(frozen=True)
class Kind:
    """A kind of documents: pairs of them, and how they are compared."""

    name: str
    pairs: Callable[[Size, int, Random], tuple[Any, Any]]
    """So many documents, and to each one of the size's similarity to it."""
    options: dict[str, Any]
    similarity: Callable[[Size], float] = lambda size: size.similarity
    least: float = 0.1
    """The least similarity that is looked at: below, nearly all documents meet by chance."""


class Row(NamedTuple):
    """What was found of the pairs of one kind, size and recall."""

    kind: str
    size: Size
    threshold: float
    recall: float
    plan: str
    stated: float
    measured: float
    error: float
    pairs: int

    @property
    def score(self) -> float:
        """By how many standard errors more was found than is stated."""
        return (self.measured - self.stated) / self.error


def _elements(union: int, pairs: int, random: Random) -> Words:
    return random.integers(0, 2**63, (pairs, union), dtype=np.uint64)


def _joined(words: Words) -> list[str]:
    return [" ".join(f"{word:x}" for word in one) for one in words.tolist()]


def _two_sided(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Documents of words, each of which has words of its own."""
    words = _elements(size.union, pairs, random)
    own = (size.union - size.shared + 1) // 2
    second = np.delete(words, np.s_[size.shared : size.shared + own], axis=1)
    return _joined(words[:, : size.shared + own]), _joined(second)


def _one_sided(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Documents of words in a row, and their beginnings."""
    words = _elements(size.union + 4, pairs, random)
    return _joined(words), _joined(words[:, : size.shared + 4])


def _repeated(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Documents of one word, over and over, and of fewer of it."""
    words = np.repeat(_elements(1, pairs, random), size.union, axis=1)
    return _joined(words), _joined(words[:, : size.shared])


def _characters(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Texts of random ideographs, which are shingles of two, and their beginnings."""
    points = random.integers(0x4E00, 0x9FA6, (pairs, size.union + 1))
    texts = ["".join(map(chr, one)) for one in points.tolist()]
    return texts, [text[: size.shared + 1] for text in texts]


def _neighbours(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Texts such as a1a2a3, whose shingles differ in one character, by one."""
    first = random.integers(0x4E00, 0x6E00, pairs)
    second = random.integers(0x7000, 0x9E00, pairs)
    texts = [
        "".join(chr(b + i // 2) if i % 2 else chr(a) for i in range(size.union + 1))
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return texts, [text[: size.shared + 1] for text in texts]


def _unbalanced(size: Size, pairs: int, random: Random) -> tuple[list[str], list[str]]:
    """Documents of the same two words, of which each has more of another one.

    No pair is moved further by two words that meet when they are folded.
    """
    words = _elements(2, pairs, random)
    many, few = size
    return _joined(np.repeat(words, [many, few], axis=1)), _joined(
        np.repeat(words, [few, many], axis=1)
    )


def _vectors(size: Size, pairs: int, random: Random) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors at the angle of a cosine; in fewer dimensions many are near each other by chance."""
    x, y = random.standard_normal((2, pairs, 16 * size.union))
    x /= np.linalg.norm(x, axis=1)[:, None]
    y -= (x * y).sum(axis=1)[:, None] * x
    y /= np.linalg.norm(y, axis=1)[:, None]
    cosine = min(size.similarity + 1e-6, 1.0)  # of 32 bits
    return x, cosine * x + math.sqrt(1 - cosine**2) * y


def _cosine_of_sets(size: Size) -> float:
    own = (size.union - size.shared + 1) // 2
    return size.shared / math.sqrt((size.shared + own) * (size.union - own))


def _cosine_of_counts(size: Size) -> float:
    many, few = size
    return 2 * many * few / (many**2 + few**2)


COSINE = {"metric": "cosine", "shingle": "words:1"}
KINDS = {
    kind.name: kind
    for kind in (
        Kind("sets", _two_sided, {"shingle": "words:1"}),
        Kind("multisets", _repeated, {"shingle": "words:1", "multiset": True}),
        Kind("words", _one_sided, {"shingle": "words:5"}),
        Kind("characters", _characters, {"shingle": "chars:2"}),
        Kind("neighbours", _neighbours, {"shingle": "chars:2"}),
        Kind("cosine", _two_sided, COSINE, _cosine_of_sets, least=0.3),
        Kind("unbalanced", _unbalanced, COSINE, _cosine_of_counts, least=0.3),
        Kind("vectors", _vectors, {"metric": "cosine"}, least=0.6),
    )
}


def sizes(*, large: bool) -> list[Size]:
    """Give unions from one element on, and similarities from 0.1 to 1."""
    unions = range(1, 21) if large else (1, 2, 3, 4, 5, 7, 10, 16, 20)
    few = [Size(n, m) for n in unions for m in range(1, n + 1) if m / n >= 0.1]
    if not large:
        few = [size for size in few if size.union < 6 or size.shared % 3 == size.union % 3]
    return [*few, Size(40, 20), Size(40, 32), Size(160, 128), *([Size(1000, 800)] if large else [])]


class Cell(NamedTuple):
    """A row of the grid before it is measured."""

    size: Size
    recall: float
    for_many: bool
    """The bands are those for a million documents."""


def grid(kind: Kind, *, large: bool) -> Iterator[Cell]:
    """Give the rows of a grid for a kind of documents."""
    few = [size for size in sizes(large=large) if kind.similarity(size) >= kind.least]
    cells = [(recall, for_many) for recall in RECALLS for for_many in (False, True)]
    for place, size in enumerate(few):
        # The small grid takes recalls and plans in turn, the large one all recalls for each size.
        for cell in cells[place % 2 :: 2] if large else [cells[5 * place % 8]]:
            yield Cell(size, *cell)


def _bands(kind: Kind, threshold: float, cell: Cell) -> dict[str, Any]:
    if not cell.for_many:
        return {}
    metric = kind.options.get("metric", "jaccard")
    plan = lookalike.plan(threshold, cell.recall, documents=MANY, metric=metric)
    return {"bands": plan.bands, "rows": plan.rows}


def measure(kind: Kind, cell: Cell, *, large: bool) -> Row:
    """Look for pairs of one size, by several seeds."""
    size, recall, _ = cell
    pairs = (LARGE if large else SMALL) * (8 if recall > 0.999 else 1) // SEEDS
    threshold = kind.similarity(size)
    given = kind.options | _bands(kind, threshold, cell)
    shares, stated, plan = [], [], ""
    for seed in range(SEEDS):
        random = np.random.default_rng([seed, *size])
        first, second = kind.pairs(size, pairs, random)
        documents = np.concatenate([first, second]) if kind.name == "vectors" else [*first, *second]
        result = lookalike.find(documents, threshold=threshold, recall=recall, seed=seed, **given)
        numbers = np.stack([result.pairs[end].to_numpy() for end in ("a", "b")]).astype(np.int64)
        # By chance other documents are similar too, where they are short or the threshold is low.
        shares.append(np.count_nonzero(np.abs(numbers[0] - numbers[1]) == pairs) / pairs)
        stated.append(result.plan.probability(threshold))
        plan = str(result.plan.cascade)
    promised, measured = float(np.mean(stated)), float(np.mean(shares))
    independent = promised * (1 - promised) / pairs
    error = math.sqrt(max(float(np.var(shares, ddof=1)), independent, 1e-12) / SEEDS)
    return Row(kind.name, size, threshold, recall, plan, promised, measured, error, pairs * SEEDS)


def main(given: Sequence[str] | None = None) -> None:
    """Measure a grid, show each row, and then the worst."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument(
        "--large",
        action="store_true",
        help="every size and recall, and four times the pairs: hours",
    )
    asked = parser.parse_args(given)
    rows = []
    print("kind        union shared  cosine/J  asked    stated     measured   error     scores")
    for name in asked.kinds or KINDS:
        for cell in grid(KINDS[name], large=asked.large):
            row = measure(KINDS[name], cell, large=asked.large)
            rows.append(row)
            print(
                f"{row.kind:<11} {row.size.union:>5} {row.size.shared:>6}  {row.threshold:.6f}  "
                f"{row.recall:<7g}  {row.stated:.6f}  {row.measured:.6f}  {row.error:.6f}  "
                f"{row.score:+.1f}  {row.plan}",
                flush=True,
            )
    worst = min(rows, key=lambda row: row.score)
    total = sum(row.score for row in rows) / math.sqrt(len(rows))
    print(f"{len(rows)} rows, the worst: {worst}; scores add up to {total:+.1f}")


if __name__ == "__main__":
    main()
