"""How likely a pair is found by the whole path: bands, prefilter, and where asked an estimate.

The textbook's curve takes the rows of a signature to be independent, and a pair to be lost by the
bands alone. Here each step is counted that can lose a pair, for documents of every length.

**Rows.** A round puts each element of two documents into one of 128 rows, and the winners of the
rows that it fills are different elements, drawn without replacement; three rounds are independent,
and the rows that they leave empty are drawn with replacement. So the number of rows of a block that
agree is a sum of hypergeometric and binomial numbers, and which rows those are is left to chance.
How likely bands agree, and how likely the prefilter passes, follows from that number by counting.
What is told is the least over unions of 1, 2, 3, … elements, up to as many as one likes.

**Bits.** Weighted features are folded: each has four of 4096 places, and two that meet there move
the angle of the documents, for all bits alike. Hyperplanes of one block are orthogonal, so that a
band of bits agrees a little less often than if they were independent. What is told is the least
over few heavy meetings (documents of a feature or two) and many light ones.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from lookalike.planning.curves import Cascade, equal_bits
from lookalike.sketches.prefilter import (
    MIN_DIFFERING_BITS,
    PREFILTER_BITS,
    PREFILTER_ROWS,
    failing_by_bits,
    passing_by_rows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["BitPath", "Chance", "RowPath"]

BLOCK_ROWS = PREFILTER_ROWS
"""Rows of a signature among which one round spreads a document's elements."""
ROUNDS = 3
PREFILTER_SHARE = 0.2
"""Of the misses that a recall allows, the share that the prefilter may take at the threshold."""
SMALL_UNION = 64
"""Elements up to which every size of a union is looked at; above, one of each growing range."""
LARGE_UNION = 1 << 13
"""Elements from which on rows are as good as independent."""
UNION_GROWTH = 1.2

FOLD_COLLISIONS = {4: 3, 16: 5, 64: 9}
"""The share of their weight, one in so many, with which features meet, and how often at most.

A feature has four places, so that two meet with a quarter of their weight; as those of many do, and
as those of very many. The variance of what they move is the same: one in the size of the vector.
"""


class Chance(NamedTuple):
    """How likely a pair is found, and how likely it is missed: small ones keep their digits."""

    found: float
    missed: float

    @classmethod
    def of(cls, found: float, missed: float) -> Self:
        """Take the smaller one, and let the other make it up to 1."""
        return cls(1 - missed, missed) if missed <= found else cls(found, 1 - found)


class RowPath:
    """The path by minhashes: of pairs of one similarity, the least chance over all unions."""

    def __init__(self, similarity: float) -> None:
        """Count how many rows of a block agree, for unions of every size."""
        self._similarity = similarity
        self._agreeing = _agreeing_rows(similarity)

    @classmethod
    def of_union(cls, union: int, shared: int) -> Self:
        """Look at documents of so many elements together alone, and so many that they share."""
        path = cls.__new__(cls)
        path._similarity = shared / union
        path._agreeing = _agreeing_of(union, shared)[None, :]
        return path

    def prefilter(self, recall: float) -> int:
        """Give the fewest bits in which pairs rarely differ more, by what a recall allows."""
        allowed = PREFILTER_SHARE * (1 - recall)

        def is_rare(max_differing: int) -> bool:
            return bool((self._agreeing @ (1 - passing_by_rows(max_differing)) <= allowed).all())

        choices = range(MIN_DIFFERING_BITS, PREFILTER_BITS + 1)
        return choices[bisect_left(choices, True, key=is_rare)]

    def chance(
        self, cascade: Cascade, *, max_differing: int | None = None, least: int = 0
    ) -> Chance:
        """Tell how likely a cascade holds and a pair passes the prefilter.

        That is by at most so many bits that differ (None: there is no prefilter), and by at least
        so many agreeing rows of the first block.
        """
        passing = (
            np.ones(BLOCK_ROWS + 1) if max_differing is None else passing_by_rows(max_differing)
        )
        passing = np.where(np.arange(BLOCK_ROWS + 1) >= least, passing, 0.0)
        bands, rows = cascade.bands, cascade.rows_per_band
        if bands is not None and rows is not None and rows <= BLOCK_ROWS:
            missed = self._no_band(passing, bands, rows)
        elif cascade.rows <= BLOCK_ROWS:
            missed = self._agreeing @ (passing * _share(_failing_ways(cascade)))
        else:
            # Other cascades over several blocks are taken as the textbook draws them.
            missed = self._agreeing @ passing * cascade.miss(self._similarity)
        lost = missed + self._agreeing @ (1 - passing)
        worst = int(np.argmax(lost))
        found = self._agreeing[worst] @ passing - missed[worst]
        return Chance.of(max(float(found), 0.0), float(lost[worst]))

    def _no_band(self, passing: Floats, bands: int, rows: int) -> Floats:
        """Tell how likely a pair passes in the first block, and no band agrees.

        A band may begin in one block and end in the next: `begun` is how likely all others were
        missed and its rows agree so far, `missed` how likely they do not.
        """
        begun, missed = np.zeros(len(self._agreeing)), np.ones(len(self._agreeing))
        known: dict[tuple[int, int, int], list[Floats]] = {}
        for begin in range(0, bands * rows, BLOCK_ROWS):
            end = min(begin + BLOCK_ROWS, bands * rows)
            left, right = min(-begin % rows, end - begin), end % rows
            count = (end - begin - left - right) // rows
            if begin == 0:
                chances = [
                    self._agreeing @ (passing * share) for share in _missing(0, count, rows, right)
                ]
            elif (left, count, right) in known:
                chances = known[left, count, right]
            else:
                chances = [self._agreeing @ share for share in _missing(left, count, rows, right)]
                known[left, count, right] = chances
            begun, missed = (
                missed * chances[0] + begun * chances[1],
                missed * chances[2] + begun * chances[3],
            )
            if right == 0:
                begun, missed = np.zeros(len(begun)), begun + missed
        return missed

    def estimated(self, cascade: Cascade, rows: int, least: int) -> Chance:
        """Tell how likely a cascade holds and at least so many of some rows agree."""
        if rows == BLOCK_ROWS:
            return self.chance(cascade, least=least)
        agreeing = np.ones((len(self._agreeing), 1))
        for begin in range(0, rows, BLOCK_ROWS):
            block = self._agreeing @ _drawn(min(BLOCK_ROWS, rows - begin))
            agreeing = np.stack([np.convolve(*both) for both in zip(agreeing, block, strict=True)])
        # Both are more likely the more rows agree, so that their product is no more than the truth.
        found = self.chance(cascade).found * float(agreeing[:, least:].sum(axis=1).min())
        return Chance(found, 1 - found)


@lru_cache(64)
def _agreeing_rows(similarity: float) -> Floats:
    """Give, for unions of every size, how likely 0, 1, … of the rows of a block agree."""
    sizes = [_agreeing_of(union, shared) for union, shared in _unions(similarity)]
    return np.stack([*sizes, _binomial(BLOCK_ROWS, similarity)])


def _unions(similarity: float) -> list[tuple[int, int]]:
    """Give sizes of unions, and of what is shared of them: the least that is so similar."""
    unions = np.arange(1, LARGE_UNION)
    shared = np.maximum(np.ceil(similarity * unions - 1e-9), 0).astype(np.int64)
    chosen = list(range(SMALL_UNION))
    begin = SMALL_UNION
    while begin < len(unions):
        end = math.ceil(begin * UNION_GROWTH)
        chosen.append(begin + int(np.argmin(shared[begin:end] / unions[begin:end])))
        begin = end
    return [(int(unions[place]), int(shared[place])) for place in chosen]


def _agreeing_of(union: int, shared: int) -> Floats:
    """Tell how likely 0, 1, … rows agree; a round is taken to fill as many as it does on average.

    How many agree has the same mean whatever is filled, so that this says little.
    """
    agreeing, left = np.ones(1), BLOCK_ROWS
    for _ in range(ROUNDS):
        filled = min(round(left * -math.expm1(union * math.log1p(-1 / BLOCK_ROWS))), union)
        agreeing = np.convolve(agreeing, _hypergeometric(union, shared, filled))
        left -= filled
    return np.convolve(agreeing, _binomial(left, shared / union))


@cache
def _log_factorials() -> Floats:
    found: Floats = np.cumsum(np.log(np.maximum(np.arange(LARGE_UNION + 1), 1)))
    return found


def _log_ways(n: NDArray[np.int64] | int, k: NDArray[np.int64]) -> Floats:
    logs = _log_factorials()
    found: Floats = logs[n] - logs[k] - logs[n - k]
    return found


def _hypergeometric(size: int, marked: int, drawn: int) -> Floats:
    """Tell how likely 0, 1, … of the drawn are marked."""
    found = np.zeros(drawn + 1)
    k = np.arange(max(0, drawn - size + marked), min(drawn, marked) + 1)
    ways = _log_ways(marked, k) + _log_ways(size - marked, drawn - k)
    found[k] = np.exp(ways - _log_ways(size, np.array(drawn)))
    return found


def _binomial(trials: int, chance: float) -> Floats:
    k = np.arange(trials + 1)
    if chance in (0.0, 1.0):
        return np.where(k == trials * chance, 1.0, 0.0)
    logs = _log_ways(trials, k) + k * math.log(chance) + (trials - k) * math.log1p(-chance)
    found: Floats = np.exp(logs)
    return found


@cache
def _drawn(rows: int) -> Floats:
    """Give, for 0, 1, … agreeing rows of a block, how likely so many of the first rows agree."""
    return np.stack([_hypergeometric(BLOCK_ROWS, k, rows) for k in range(BLOCK_ROWS + 1)])


# Ways to choose the rows that agree: a polynomial, whose k-th number is the ways to choose k.


@cache
def _any_of(rows: int) -> Floats:
    return np.array([float(math.comb(rows, k)) for k in range(rows + 1)])


@cache
def _all_of(rows: int) -> Floats:
    return np.append(np.zeros(rows), 1.0)


@cache
def _not_all_of(rows: int) -> Floats:
    return np.append(_any_of(rows)[:-1], 0.0)


@cache
def _no_band_of(bands: int, rows: int) -> Floats:
    if bands == 0:
        return np.ones(1)
    half = _no_band_of(bands // 2, rows)
    whole = np.convolve(half, half)
    return np.convolve(whole, _not_all_of(rows)) if bands % 2 else whole


def _share(*ways: Floats) -> Floats:
    """Give, for 0, 1, … agreeing rows of a block, the share of the choices that are such ways."""
    joined = np.ones(1)
    for each in ways:
        joined = np.convolve(joined, each)
    joined = np.convolve(joined, _any_of(BLOCK_ROWS + 1 - len(joined)))
    return joined / _any_of(BLOCK_ROWS)


@cache
def _missing(left: int, bands: int, rows: int, right: int) -> list[Floats]:
    """Give, for 0, 1, … agreeing rows of a block, how likely none of its whole bands agrees.

    First where all rows of the band that begins at its end do so, then where they do not; for each,
    first whatever the rows do of the band that ends in it, then where not all of them agree.
    """
    within = _no_band_of(bands, rows)
    return [
        _share(beginning(left), within, ending(right))
        for ending in (_all_of, _not_all_of)
        for beginning in (_any_of, _not_all_of)
    ]


def _failing_ways(cascade: Cascade) -> Floats:
    """Give the ways in which a cascade does not hold."""
    holding, failing = _all_of(1), _not_all_of(1)
    for kind, n in cascade.steps:
        if kind == "and":
            holding, failing = _every_and_not(holding, failing, n)
        else:
            failing, holding = _every_and_not(failing, holding, n)
    return failing


def _every_and_not(ways: Floats, others: Floats, n: int) -> tuple[Floats, Floats]:
    """Give the ways in which all of n parts are one way, and those in which one or more is not."""
    either = ways + others
    all_, not_all = np.ones(1), np.zeros(1)
    for _ in range(n):
        not_all = np.convolve(not_all, either) + np.convolve(all_, others)
        all_ = np.convolve(all_, ways)
    return all_, not_all


class BitPath:
    """The path by bits of hyperplanes: of pairs of one cosine, the least chance over all."""

    def __init__(self, cosine: float, *, size: int, folded: bool) -> None:
        """Count how features meet that are folded into a vector of this size, where they are."""
        self._size = size
        self._cases = [(np.array([cosine]), np.ones(1))]
        if folded:
            self._cases = [
                _with_collisions(cosine, share, count, size)
                for share, count in FOLD_COLLISIONS.items()
            ]

    @cached_property
    def _agreements(self) -> list[tuple[Floats, Floats, Floats]]:
        """How likely a bit agrees, how likely more than 0, 1, … do not, and how likely that is."""
        agreements = [np.asarray(equal_bits(cosines), np.float64) for cosines, _ in self._cases]
        return [
            (agree, failing_by_bits(agree), likely)
            for agree, (_, likely) in zip(agreements, self._cases, strict=True)
        ]

    def prefilter(self, recall: float) -> int:
        """Give the fewest bits in which pairs rarely differ more, by what a recall allows."""
        each = [likely @ failing for _, failing, likely in self._agreements]
        rare = np.max(each, axis=0) <= PREFILTER_SHARE * (1 - recall)
        return max(int(np.argmax(rare)), MIN_DIFFERING_BITS)

    def chance(self, cascade: Cascade, *, max_differing: int | None = None) -> Chance:
        """Tell how likely a cascade holds and a pair passes the prefilter."""
        chances = []
        for agree, failing_by, likely in self._agreements:
            failing = (
                np.zeros(len(agree)) if max_differing is None else failing_by[:, max_differing]
            )
            in_bands = self._agreement_in_bands(cascade, agree)
            found = cascade.probability(in_bands) * (1 - failing)
            missed = cascade.miss(in_bands) * (1 - failing) + failing
            chances.append(Chance.of(float(likely @ found), float(likely @ missed)))
        return max(chances, key=lambda chance: chance.missed)

    def _agreement_in_bands(self, cascade: Cascade, agree: Floats) -> Floats:
        """Give with which chance bits would agree that are independent, and agree so in bands.

        Two orthogonal hyperplanes, of a space of d dimensions, both separate two vectors at an
        angle a by sin(a)^2 / (pi^2 d) more rarely than two independent ones; and so for agreeing.
        """
        kind, rows = cascade.steps[0]
        if kind == "or" or rows == 1:
            return agree
        rarer = (np.sin(np.pi * agree) / (np.pi * np.maximum(agree, 0.5))) ** 2 / self._size
        return agree * np.exp(-rarer * (rows - 1) / 2)


def _with_collisions(
    cosine: float, share: int, max_collisions: int, size: int
) -> tuple[Floats, Floats]:
    """Give what the cosine of documents becomes whose features meet, and how likely that is.

    It moves the furthest where two documents have the same two features.
    """
    moved = np.clip(np.arange(-max_collisions, max_collisions + 1) / share, -0.99, 0.99)
    cosines = np.clip((cosine + moved) / (1 + moved * cosine), -1, 1)
    return cosines, _difference(share**2 / (2 * size), max_collisions)


def _difference(mean: float, max_collisions: int) -> Floats:
    """Tell how likely two Poisson numbers differ by -most to most, the ends standing for more."""
    terms = range(2 * max_collisions + 20)
    poisson = np.array([math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in terms])
    found = np.convolve(poisson, poisson[::-1])
    middle = len(poisson) - 1
    likely = found[middle - max_collisions : middle + max_collisions + 1].copy()
    likely[0] += found[: middle - max_collisions].sum()
    likely[-1] += found[middle + max_collisions + 1 :].sum()
    likely /= likely.sum()
    return likely
