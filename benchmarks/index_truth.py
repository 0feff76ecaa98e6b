"""Which of the documents in an index a new one is similar to, by plain Python's sets."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.job import Rows
from benchmarks.shingles import Shingles, jaccard


@dataclass(frozen=True)
class Asked:
    """Documents that a contestant was asked for in turn, and what it answered."""

    first: int
    """The number of the first; the others follow."""
    done: int
    """The documents that were in the index before, from the first."""
    answers: Sequence[Sequence[int]]
    admits: bool = False
    """Each was added that was similar to none."""
    others: frozenset[int] = frozenset()
    """Documents beyond those done that were in the index too."""


class SeenTruth:
    """The copies of the same original, and whatever any contestant found, compared exactly."""

    def __init__(
        self,
        text: Callable[[int], str],
        originals: Callable[[int], Rows],
        shingles: Shingles,
        threshold: float,
    ) -> None:
        self.threshold, self._originals = threshold, originals
        self._families: tuple[Rows, Rows, Rows] | None = None
        self._shingles: Callable[[int], set[Hashable]] = lru_cache(20_000)(
            lambda number: shingles(text(number))
        )
        self._near: dict[tuple[int, int], bool] = {}
        self._found: dict[int, set[int]] = {}

    def learn(self, asked: Asked) -> None:
        """Note what was answered: true ones count for every contestant that had the document."""
        for number, answer in enumerate(asked.answers, asked.first):
            true = (other for other in answer if self.are_near(number, other))
            self._found.setdefault(number, set()).update(true)

    def judged(self, asked: Asked) -> dict[str, float | int]:
        """Give recall and precision, with what they are of."""
        wanted = found = answered = right = 0
        inside = set(asked.others)
        for number, answer in enumerate(asked.answers, asked.first):
            true = {
                other
                for other in self._family(number) | self._found.get(number, set())
                if other < asked.done or other in inside
            }
            true = {other for other in true if other != number and self.are_near(number, other)}
            wanted += len(true)
            found += len(true.intersection(answer))
            answered += len(set(answer))
            right += sum(self.are_near(number, other) for other in set(answer))
            if asked.admits and not answer:
                inside.add(number)
        return {
            "recall": found / wanted if wanted else 1.0,
            "sought": wanted,
            "precision": right / answered if answered else 1.0,
            "answered": answered,
        }

    def are_near(self, number: int, other: int) -> bool:
        pair = number, other
        if pair not in self._near:
            near = jaccard(self._shingles(number), self._shingles(other)) >= self.threshold
            self._near[pair] = near
        return self._near[pair]

    def know(self, count: int) -> None:
        """Learn which documents are copies of the same original, up to a number."""
        originals = self._originals(count)
        order = np.argsort(originals, kind="stable")
        self._families = originals, originals[order], order

    def _family(self, number: int) -> set[int]:
        assert self._families
        originals, ordered, order = self._families
        begin, end = np.searchsorted(ordered, [originals[number], originals[number] + 1])
        return set(order[begin:end].tolist())


def admitted(first: int, answers: Iterable[Sequence[int]]) -> frozenset[int]:
    """Give the numbers of the documents that were new."""
    return frozenset(number for number, answer in enumerate(answers, first) if not answer)
